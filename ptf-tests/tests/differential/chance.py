"""Where random parts of a case come from.

Each part (a rule, an action, a packet) is drawn by Hypothesis as one number, from which everything in it follows. So a
case costs few draws, which ten thousand of them need, and a failing one still shrinks: parts are left out until each
that is left is needed.
"""

from random import Random

from hypothesis import strategies as st


class Chance(Random):
    """Random choices in the words that strategies have."""

    def one_in(self, number):
        """True once in so many times."""
        return self.randrange(number) == 0

    def some(self, population, most, least=0):
        """So many different ones, in their order."""
        wanted = self.randint(least, min(most, len(population)))
        chosen = set(self.sample(range(len(population)), wanted))
        return [each for number, each in enumerate(population) if number in chosen]


_seeds = st.binary(min_size=6, max_size=6)


def parts(most, least=0):
    """So many parts, each decided by a chance of its own, so that leaving one out leaves the others as they are."""
    return st.lists(_seeds, min_size=least, max_size=most, unique=True).map(
        lambda drawn: [Chance(seed) for seed in drawn]
    )


one_part = _seeds.map(Chance)
