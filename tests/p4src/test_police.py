"""Meters give the colours of a simple model of RFC 2697, RFC 2698 and RFC 4115, packet by packet."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw

import phb
import phb_p4
from phb.compiler import compile_policy
from phb.formats import yaml_format
from phb.pipeline_names import COLOURS_PER_POLICY, DropReason
from phb_switch import PortConfig, Switch

from .entries import write_entries

IN, OUT = 2, 1
GREEN, YELLOW, RED = range(3)
TOS = {GREEN: 0x28, YELLOW: 0x30, RED: 0x38}  # AF11, AF12, AF13
NODE = (
    "phb: 1\nports:\n  - {number: 1, name: line}\n  - {number: 2, name: lan}\n"
    "cross-connects:\n  - between: [line, lan]\n"
)


def load(text):
    """A switch with the entries of a policy, and what the numbers in them stand for."""
    artifact = phb.Artifact.load(phb_p4.artifact_path(), phb_p4.p4info_path())
    intent = compile_policy(yaml_format.read(text, "f"), artifact, at=phb_time())
    switch = Switch("dut", {IN: PortConfig(), OUT: PortConfig()})
    switch.load(phb_p4.artifact_path().read_text())
    write_entries(switch, intent)
    return switch


def phb_time():
    from datetime import datetime

    return datetime(2000, 1, 3, 12, 0)
