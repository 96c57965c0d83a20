"""What passed, kept in a database: by second, minute, hour and day, of classes, policies and streams.

    tables > lease (who writes)           } > file > sharing > books, upkeep (packing, retention) > keeping (the taker)
    coding > totals > position (counters) }        > accounts, unmet, copying;  networks (of a policy's rules)

Records are made of positions: absolute counters, written in the transaction of the record that they end. So each
packet is counted once, whenever a process is killed and however long the monitor was away.
"""

from phb.monitor.history.keeping import History
from phb.monitor.history.networks import networks_of
from phb.monitor.history.retention import Retention

__all__ = ["History", "Retention", "networks_of"]
