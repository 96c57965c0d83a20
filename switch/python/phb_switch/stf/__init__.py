"""STF, the language of p4c's test programs and its bmv2 runner: entries, packets, expected packets."""
