"""Bring a switch to what a policy says: in which numbers, in which order, and back if anything fails.

    push > switch_push > transition > phases
                         renumbering > priorities, slots

`phb.pushing.push` is the library interface.
"""
