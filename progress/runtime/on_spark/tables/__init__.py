"""What tables are to a run on Spark: their columns, several as one, few rows, kept; and those of Arrow and pandas."""
