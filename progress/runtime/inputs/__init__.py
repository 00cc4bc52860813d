"""How inputs are read: how long at once, how far ahead, and how far they are."""
