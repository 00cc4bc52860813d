"""What makes operators right, as checks: the four properties (10) to (31), and the equalities (section 4.3)."""
