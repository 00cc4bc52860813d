"""Loops in programs of streams: `loop`, where messages go round alone, and `iterate`, where rounds do."""
