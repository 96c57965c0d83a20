"""What passed, kept in an SQLite file: by second, minute, hour and day, of classes, policies and streams.

    coding > totals > position > file (SQLite) > books, upkeep (packing, retention) > keeping (the taker)
                                              > accounts, unmet;  networks (of a policy's rules)

Records are made of positions: absolute counters, written in the transaction of the record that they end. So each
packet is counted once, whenever a process is killed and however long the monitor was away.
"""

from phb.monitor.history.keeping import History
from phb.monitor.history.networks import networks_of
from phb.monitor.history.retention import Retention

__all__ = ["History", "Retention", "networks_of"]
