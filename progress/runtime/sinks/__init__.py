"""Places that keep what leaves a run exactly once: tables of databases, files of Parquet (docs/delivery.md)."""
