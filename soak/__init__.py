"""An hour of overload, faults and misuse on a real switch: `python -m soak`, or `make soak`. docs/evidence/soak.md.

```text
   schedule (run) --> fault (faults, clients) ---------------------> checkpoint --> report
                             |                                            |
                  floods, numbered probes --> phb-switch on veth pairs <--+ counters, memory
```
"""
