"""Cisco IOS configurations as a policy: class maps, access lists, policy maps, and how interfaces queue.

    text -> lines -> statements -> configuration -> policy model
                     (vocabulary,   (what is said)   (attachments, classes and boxes, rules, meters,
                      modes, one                      shapers, queueing, ports)
                      file a family)

The words mean different things in different releases, so the dialect is always said, never guessed. Statements are in
three groups: those that become a part of the model; those that don't bear on packets, which are listed (`ignored`); all
others, which are errors.
"""

from phb.formats.ios.reader import read
from phb.formats.ios.writing import write

__all__ = ["read", "write"]
