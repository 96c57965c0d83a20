"""The lab: published QoS test networks rebuilt, run, and printed beside the published figures.

Reading order: :mod:`phb_lab.description` (a network as data), :mod:`phb_lab.networks` (a folder per network),
:mod:`phb_lab.virtual` (runs a description in virtual time), :mod:`phb_lab.figures` and :mod:`phb_lab.report`.
"""
