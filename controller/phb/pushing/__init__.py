"""Bring a switch to what a policy says: what differs, in which numbers, in which order, and back if anything fails.

    push > transition > phases > difference
           renumbering > priorities, references

`phb.pushing.push` is the library interface.
"""
