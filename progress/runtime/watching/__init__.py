"""What is shown of a run: logs, a line on the terminal and what it says."""
