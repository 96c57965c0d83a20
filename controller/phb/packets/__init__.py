"""Sets of packets: boxes over what rules may ask for, in a policy's words, with an example of each.

boxes < space
    windows < moments < epochs      times
    joining < words < example, frames
"""
