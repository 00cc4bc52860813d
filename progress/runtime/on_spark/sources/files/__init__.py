"""A folder as a source: what each look finds there, whose rows are at which time, by Spark and by Arrow."""
