"""A release: source distribution, wheels, and what is in them. `make dist` runs ``python -m release``."""
