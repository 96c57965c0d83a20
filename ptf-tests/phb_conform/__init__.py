"""Requirements of RFCs on a DiffServ node, as checks of a switch: one file per RFC.

    check, measures < metered < metering < rfc2474, rfc2475, ... scheduling < checklist
    checklist < running < report < table, markdown < switches, command

A new document is a new module; `checklist` has its place in the order.
"""
