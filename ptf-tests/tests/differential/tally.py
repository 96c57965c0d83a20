"""How often each thing happened in a run: a comparison says nothing about what never came up."""

from collections import Counter


class Tally(Counter):
    """Occurrences by what occurred."""

    def __str__(self):
        return "\n".join(f"{count:6} {name}" for name, count in sorted(self.items()))

    def expect(self, least, *names):
        """Asserts that each happened so often."""
        seldom = {name: self[name] for name in names if self[name] < least}
        assert not seldom, f"fewer than {least} times: {seldom}\n{self}"
