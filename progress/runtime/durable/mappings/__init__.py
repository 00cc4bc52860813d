"""Mappings that nodes keep, each a `State`: what has changed, written in slices, in the store by changes or by key."""
