"""How many examples property tests take."""

from hypothesis import settings


def share(of_a_hundred: int) -> int:
    """Return so many examples where the profile has a hundred, and as many more or fewer where it has more or fewer.

    `make test` has a profile with few (conftest.py); ``--hypothesis-profile search`` has many.
    """
    return max(1, settings.default.max_examples * of_a_hundred // 100)
