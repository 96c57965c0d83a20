"""What a node does with packets: ordered lists of boxes and treatments, without names and numbers of policies.

    marks < behaviour < deciding
    behaviour < policy (what a policy says)

Two policies are compared by their behaviours, and a compiled policy with its entries (`phb.proving.tables`).
"""
