"""Declared summaries as boxes and moves of integers: how they are written, composed, compared and run backwards."""
