"""Reading what switches count: one reader for each way that a switch tells it.

client (messages), source (what is read) > telemetry, polling (samples) > once
subjects (whose the cells are), entries, counting (cells to samples), interfaces (gNMI)
"""
