"""One run, from what it is given to what it answers with."""
