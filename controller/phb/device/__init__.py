"""One switch as the controller meets it: its program, a session with it, mastership, TLS, gNMI; entries in words.

No policy here: what to write is decided in `phb.pushing`.
"""
