"""Model -> YAML -> model gives the same model, for any model."""

from hypothesis import HealthCheck, given, settings

from controller.tests.strategies import policies
from phb.formats import yaml_format


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(policies)
def test_model_to_yaml_to_model(policy):
    assert yaml_format.read(yaml_format.write(policy), "f") == policy
