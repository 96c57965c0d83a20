"""Views of a live switch, read without mastership; only counter cells that something makes count.

held (entries by names) > reading (counters as they are asked for) > policies, queues, classes, meters, ports, switches
"""
