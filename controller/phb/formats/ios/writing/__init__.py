"""The policy model as an IOS configuration; every difference is a loss.

conditions (access lists, class maps), actions (set, police), queues > policies (policy maps) > configuration
"""

from phb.formats.ios.writing.configuration import write

__all__ = ["write"]
