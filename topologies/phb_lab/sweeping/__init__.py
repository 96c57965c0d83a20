"""Policy x network x seed: many runs on many processors, and their means.

job < cluster      one run as data; where runs are run
job < summary      means over seeds
"""
