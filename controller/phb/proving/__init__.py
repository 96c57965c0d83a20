"""Proofs that a compiled policy does what the policy says: what its tables do, read as the program reads them."""
