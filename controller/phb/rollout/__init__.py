"""Pushes to many switches in waves: shared by several processes, judged, taken back.

A rollout is rows in the state: its switches, wave by wave, and what has become of each. Whoever works on it claims a
few switches in one transaction, pushes to them, and says what became of them in another one. So any number of
processes may do it together, and what one that was killed had claimed, another one claims again: it compares with the
switch, and writes only what is missing.

    waves (who comes when) > records (what the state knows) > before (what a switch had) > work (one process's part)
                                                              verdicts (what the monitor sees) >
"""
