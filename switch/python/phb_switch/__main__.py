"""`python -m phb_switch` is `phb-switch`."""

from phb_switch.cli import main

main()
