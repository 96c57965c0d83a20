"""``python -m phb``."""

from phb.cli import main

main()
