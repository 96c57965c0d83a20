"""What a live switch holds and has seen, read without mastership; only counter cells that something makes count.

held (entries by names) > reading (counters as they are asked for) > policies, queues, classes, meters, ports, switches
"""
