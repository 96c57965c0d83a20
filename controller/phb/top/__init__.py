"""`phb top`: live figures in a terminal.

    messages (monitor.live) > known (figures by item) > rows (tree, filter, order) > screen (textual)

Only `screen`, `listing` and `choosing` import textual.
"""
