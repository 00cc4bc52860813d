"""From verdicts to findings with a place, and the formats in which they are shown."""
