"""What a tracker is made of: steps judged and entered, the ledger, who waits for what, frontiers that are watched."""
