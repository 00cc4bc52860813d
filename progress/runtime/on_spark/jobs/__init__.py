"""Jobs of Spark: which end together, what is left of them, what is counted and said of those that fail."""
