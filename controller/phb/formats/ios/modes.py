"""The modes of a configuration; each statement family adds its own to them."""

from phb.formats.ios.vocabulary import Vocabulary
from phb.model import Dialect

GLOBAL = Vocabulary("global configuration")
CLASS_MAP = Vocabulary("a class map")
POLICY_MAP = Vocabulary("a policy map")
POLICY_CLASS = Vocabulary("a class of a policy map")
POLICE = Vocabulary("a police statement")
ROUTE_MAP = Vocabulary("a route map")
INTERFACE = Vocabulary("an interface")

# The modular QoS command line, in the releases' own numbers ("class-map", "policy-map" and "service-policy" in the
# Cisco IOS Quality of Service Solutions Command Reference).
MQC = (Dialect.IOS_12, "12.0(5)T")
HQF = (Dialect.IOS_HQF, "12.4(20)T")
