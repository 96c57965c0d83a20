"""Support for the PTF suites in ptf-tests/suites: ptf's ports, a base class, tables of cases, transcripts."""
