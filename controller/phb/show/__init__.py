"""Views of a live switch, read without mastership; only counter cells that an entry makes count.

held (entries by names) > reading (counters on demand) > policies, queues, classes, meters, ports, switches
"""
