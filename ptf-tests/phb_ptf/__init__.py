"""What the PTF suites in ptf-tests/suites stand on: ptf's ports, their base class, tables of cases, transcripts."""
