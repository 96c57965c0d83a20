"""The command `phb-switch`, one file per job; its options are in `phb_switch.cli`."""
