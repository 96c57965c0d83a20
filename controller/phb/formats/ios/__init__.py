"""Cisco IOS configurations as a policy: class maps, access lists, policy maps, and how interfaces queue.

    text -> lines and words -> statements -> configuration -> policy model -> text
            (language)         (statements)                   (building)      (writing)

The words mean different things in different releases, so the dialect is said, never guessed, unless a file means
the same in all of them.
"""

from phb.formats.ios.reader import read
from phb.formats.ios.writing import write

__all__ = ["read", "write"]
