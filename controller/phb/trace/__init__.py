"""Traces of packets: what a switch says happened to each, read from files or watched live, and told.

    messages < reading, watching      where traces come from: a trace is the dict that a line of JSON is
    values < packets < entries, steps < telling      what they say, in words
    sources, policies      whose lines stand beside the steps: the P4 program's and the policy files'

Nothing here knows the switch: its messages are described by `trace.binpb`, which protoc makes of its `trace.proto`.
"""
