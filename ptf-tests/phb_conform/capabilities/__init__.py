"""What each target can do, found out by trying: the facts of the tables that the policy compiler uses.

probe < queues, ports, control < record < __main__
"""
