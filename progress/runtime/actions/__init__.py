"""What happens in a run, action by action (A&I 4.2): what waits for a node, its code performed, what it did entered."""
