"""Runs described networks in Mininet: real interfaces, kernel TCP, switches and host adapters as processes."""
