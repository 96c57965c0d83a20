"""The headlines of docs/networks/index.md stand beside figures of the source that the named test measures."""

from dataclasses import replace

import pytest

from phb_lab import registry
from phb_lab.figures import Figure
from phb_lab.readme import HEADLINES

IDS = [f"{row.network}/{row.test}/{row.quantity}" for row in HEADLINES]


def of(row):
    study = registry.find(row.network)
    test = study.find_test(row.test)
    configuration = study.configuration(test, study.network(test, seed=1, options=study.defaults()))
    return study, Figure(row.published_test, row.quantity, row.unit, 1.0, published=1.0), configuration


# Our own policy for the source's open question: nothing is published of it.
@pytest.mark.parametrize("row", [row for row in HEADLINES if row.test != "answer"], ids=lambda row: row.quantity)
def test_a_headline_and_its_published_figure_are_of_the_same_configuration(row):
    study, figure, configuration = of(row)
    measured_with = study.measured_with(figure)
    assert measured_with
    assert {name: configuration[name] for name in measured_with} == measured_with
    assert study.beside_its_own(figure, configuration) == figure


@pytest.mark.parametrize("row", HEADLINES, ids=IDS)
def test_a_figure_of_another_configuration_stands_alone(row):
    study, figure, configuration = of(row)
    for name in study.measured_with(figure):
        other = {**configuration, name: "something else"}
        assert study.beside_its_own(figure, other) == replace(figure, published=None)


@pytest.mark.parametrize("name", registry.NAMES)
def test_what_a_source_measured_with_is_said_in_words_that_the_network_knows(name):
    study = registry.find(name)
    known = {key for test in study.tests for key in study.configuration(test, network_of(study, test))}
    for table, measured_with in study.published.get("measured_with", {}).items():
        assert set(measured_with) <= known, table


def network_of(study, test):
    return study.network(test, seed=1, options=study.defaults())
