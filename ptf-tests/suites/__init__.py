"""The PTF suites: what ptf loads, one file per stage or part of one."""
