"""Active measurement: sessions of test packets beside what switches count.

    measured > measuring

What a session's packets say comes from `phb.stamp`; here are its periods, its sums, and whether its reflector answers.
"""
