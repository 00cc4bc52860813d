"""What comes in on Spark: DataFrames, folders, streams; each message the rows of one time."""
