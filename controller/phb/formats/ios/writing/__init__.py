"""The policy model as an IOS configuration: what its words can say, and every difference as a loss.

conditions (access lists, class maps), actions (set, police), queues > policies (policy maps) > configuration
"""

from phb.formats.ios.writing.configuration import write

__all__ = ["write"]
