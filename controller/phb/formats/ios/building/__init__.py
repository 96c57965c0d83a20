"""A configuration that was read -> the policy model."""
