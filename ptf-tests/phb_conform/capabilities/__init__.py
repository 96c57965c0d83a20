"""The capabilities of each target, found by trying: the facts in the tables that the policy compiler uses.

probe < queues, ports, control < record < __main__
"""
