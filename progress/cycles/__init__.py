"""Whether closed walks rise: drift, potentials, weighing, the exact search; what is shown of one that does not."""
