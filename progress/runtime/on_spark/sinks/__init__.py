"""What leaves as tables: each time written once, as Parquet, to Delta Lake, to a table of a catalog."""
