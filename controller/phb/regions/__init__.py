"""Where behaviours do what: the packets of a space, divided by the steps that take them.

cell < plain (the simple model), cells (boxes, many at once), solver (z3)
formula < symbols < literals < solver, generalising < solver
"""
