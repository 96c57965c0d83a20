import pytest

from phb_lab.whatif.change import as_json, changes


def test_differences_are_paired_by_seed():
    pairs = [({"a": {"delay_s": base}}, {"a": {"delay_s": base - 1 - base / 1000}}) for base in (10.0, 20.0, 30.0)]
    (change,) = changes(pairs)
    assert change.current == 20
    assert change.difference.mean == pytest.approx(-1.02)
    assert change.is_sure


def test_what_only_one_of_them_has_shows_without_a_difference():
    found = {change.traffic_class: change for change in changes([({"old": {"n": 1.0}}, {"new": {"n": 2.0}})])}
    assert (found["old"].current, found["old"].proposed, found["old"].difference) == (1.0, None, None)
    assert (found["new"].current, found["new"].proposed, found["new"].is_sure) == (None, 2.0, False)
    assert as_json([found["new"]])[0]["samples"] == 0


def test_one_seed_is_never_sure():
    (change,) = changes([({"a": {"n": 1.0}}, {"a": {"n": 5.0}})])
    assert (change.difference.mean, change.difference.half_width, change.is_sure) == (4.0, None, False)
