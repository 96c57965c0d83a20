"""The capacity calculator of the CIP acceptance tests: how many adapters and routers a load takes.

- :mod:`phb_lab.planning.capacity`: what one CIP can do, by source;
- :mod:`phb_lab.planning.requirement`: the load, from the source's solutions, a file or options;
- :mod:`phb_lab.planning.arithmetic`: from one to the other, step by step.
"""
