"""The compiler, proven: tables do with every packet what random policies say, and mistakes of a compiler are found."""

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from phb.compiler import compile_policy
from phb.proving.compiled import prove

from .mistakes import MISTAKES, wrongly
from .policies import policies
from .programmed import ARTIFACT, NOON, read

CHUNKS, IN_CHUNK = 25, 40  # 1,000 policies
FOUND_WITHIN = 200


def drawing(number, seeded):
    """Settings of a test that draws so many policies, always the same."""

    def decorate(test):
        chosen = settings(
            max_examples=number,
            phases=[Phase.generate],
            report_multiple_bugs=False,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        return seed(seeded)(chosen(given(policies())(test)))

    return decorate


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_policies_are_compiled_as_they_say(chunk):
    @drawing(IN_CHUNK, chunk)
    def run(policy):
        proof = prove(read(policy), ARTIFACT, [NOON])
        assert proof.proven, proof

    run()


class FoundError(Exception):
    pass


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_found(mistake):
    def compiler(*arguments, **options):
        return wrongly(compile_policy(*arguments, **options), mistake)

    @drawing(FOUND_WITHIN, 0)
    def run(policy):
        if prove(read(policy), ARTIFACT, [NOON], compiler=compiler).wrong:
            raise FoundError

    with pytest.raises(FoundError):
        run()
