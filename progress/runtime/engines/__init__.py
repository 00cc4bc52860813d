"""The engines: who is next, and where a node's code runs; in one thread, in several, in an event loop."""
