"""How fast phb is, measured: `make bench`. A group of figures is one file."""
