"""Graph files: their two syntaxes, their notation, reading and writing, tables of Parquet."""
