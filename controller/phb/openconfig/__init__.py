"""A switch that is configured by OpenConfig over gNMI: its settings are a policy, and it tells what is in force.

`source` reads the settings as a document of the format `openconfig`. After a push `telling` says to the switch which
settings are in force, and which cells of the program's counters are OpenConfig's (`counters`).
"""
