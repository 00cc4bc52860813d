"""Pipelines run by the command: their files, inputs and outputs as JSON lines, the folder of a kept run."""
