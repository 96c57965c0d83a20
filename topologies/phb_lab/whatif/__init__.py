"""Effects of a change of policy on each class of traffic, before a maintenance window.

    passages < on_network, on_capture; change compares their values

The same traffic meets the current and the proposed policy, seed by seed; the differences are the result.
"""
