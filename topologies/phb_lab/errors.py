"""Errors for users of the lab; the command line turns each into one line and an exit code."""


class LabError(Exception):
    """A run that can't go on; exit code 1."""


class UsageError(LabError):
    """An option, name or file that is wrong; exit code 2."""


class ConservationError(LabError):
    """Packets in are not packets out plus packets dropped plus packets held: a defect of ours."""


class UnsupportedError(LabError):
    """The target, the machine or the way to run a network can't do what the network needs."""
