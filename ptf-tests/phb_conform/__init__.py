"""What RFCs ask of a DiffServ node, as checks that look for it on a switch: one file per RFC.

    check, measures < metered < metering < rfc2474, rfc2475, ... scheduling < checklist
    checklist < running < report < table, markdown < switches, command

A new document is a new module; `checklist` has its place in the order.
"""
