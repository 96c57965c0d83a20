"""Policy x network x seed: many runs on many processors, and what they say together.

job < cluster      one run as data; where runs are run
job < summary      means over seeds
"""
