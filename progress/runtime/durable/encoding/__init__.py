"""Plain data as bytes and back: a typed form that runs no code when it is read; the kernel has a twin of it."""
