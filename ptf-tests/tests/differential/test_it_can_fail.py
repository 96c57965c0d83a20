"""Mistakes that a compiler could make are found: a switch with each of them soon disagrees with the model."""

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from . import programmed
from .cases import on_idle_ports
from .comparing import DisagreementError, through_idle_ports
from .mistakes import MISTAKES, wrongly
from .programmed import Device
from .tally import Tally

FOUND_WITHIN = 2000


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_found(monkeypatch, mistake):
    compiled = programmed.compile_policy

    def compile_wrongly(*arguments, **options):
        return wrongly(compiled(*arguments, **options), mistake)

    monkeypatch.setattr(programmed, "compile_policy", compile_wrongly)
    device, tally = Device(), Tally()
    found = []

    @seed(0)
    @settings(
        max_examples=FOUND_WITHIN,
        phases=[Phase.generate],
        report_multiple_bugs=False,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(on_idle_ports())
    def run(case):
        if found:
            # Hypothesis asks for it again, but which of two entries of one priority is met isn't always the same.
            raise found[0]
        try:
            through_idle_ports(device, case, tally)
        except DisagreementError as error:
            found.append(error)
            device.renew()
            raise

    with pytest.raises(DisagreementError):
        run()
