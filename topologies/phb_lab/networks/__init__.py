"""One file per test network."""
