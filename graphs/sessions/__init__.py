"""Questions and steps, one a line: ask, track, and a recorded session played again."""
