"""`monitor.*`: what watching costs the switch that is watched, and the monitor itself.

    policy > standing (switches to be watched) > poll, many, late, year

- `poll`: what a switch loses to its reader.
- `many`: what one monitor takes that watches 200 switches.
- `late`: how long after their causes events are told.
- `year`: what a year of records takes, and how soon a month of it is read.
"""
