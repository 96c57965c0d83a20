"""The differential test: the same programs, entries and frames on this switch and on bmv2.

In reading order: ``cases`` (which programs, with which statements), ``making`` (random entries and frames for a
program), ``trial`` (a case on both switches by both control planes, and what differs), ``kinds`` (known reasons),
``report``, ``command``.
"""
