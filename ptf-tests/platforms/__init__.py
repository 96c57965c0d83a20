"""ptf's platform modules: where its ports are."""
