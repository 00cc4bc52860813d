"""What a run keeps, so that it survives a kill: plain data as bytes, and how they are read without running code."""
