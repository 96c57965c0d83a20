"""The published test networks, a folder each, with nothing that a network of a user's own can't have.

:mod:`phb_lab.registry` finds them.
"""
