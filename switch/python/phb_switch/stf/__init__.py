"""STF: packets and entries for a program, and the packets that have to come out; `phb-switch stf` runs them.

The language is the one of p4c's test programs, as its bmv2 runner understands it.
"""
