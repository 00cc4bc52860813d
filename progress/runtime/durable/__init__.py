"""What a run keeps, so that it survives a kill: when, what of it, in which store; and how what leaves goes with it."""
