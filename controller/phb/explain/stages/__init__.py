"""The stages of the pipeline, one file each, as in p4src; each reads the compiled entries and changes a packet."""
