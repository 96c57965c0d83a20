"""How the command ends otherwise than well; `str()` is one line."""


class InputError(Exception):
    """What the user gave can't be used."""


class FailedError(Exception):
    """The switch failed while running."""
