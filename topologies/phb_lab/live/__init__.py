"""Live pages and recordings of runs."""
