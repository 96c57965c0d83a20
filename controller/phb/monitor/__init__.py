"""What service each class, policy and stream gets: read from many switches, judged, kept and told.

Readings become samples (`sample`), pairs of samples become intervals with rates, objectives are judged by intervals,
and whoever wants to tell of them takes observations (`observation`). Nothing here writes to a switch.
"""
