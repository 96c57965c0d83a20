"""ptf's platform "phb_memory": phb-switch in ptf's process, or bmv2's ports over gRPC."""

from typing import Any

from phb_ptf import ports


def platform_config_update(config: dict[str, Any]) -> None:
    """Give ptf its ports; ptf calls this."""
    ports.connect(config)
