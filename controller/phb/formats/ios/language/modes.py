"""The modes of a configuration: each is a table, statement -> function, that the files of `statements` fill."""

from phb.formats.ios.language.vocabulary import Vocabulary
from phb.model import Dialect

GLOBAL = Vocabulary("global configuration")
CLASS_MAP = Vocabulary("a class map")
POLICY_MAP = Vocabulary("a policy map")
POLICY_CLASS = Vocabulary("a class of a policy map")
POLICE = Vocabulary("a police statement")
ROUTE_MAP = Vocabulary("a route map")
INTERFACE = Vocabulary("an interface")
STANDARD = Vocabulary("a standard access list")
EXTENDED = Vocabulary("an extended access list")
IPV6 = Vocabulary("an IPv6 access list")
NETWORK = Vocabulary("an object group of networks")
SERVICE = Vocabulary("an object group of services")

# Blocks whose statements phb doesn't read: of a statement that is left out, of an unknown one, and of a wrong one.
IN_BLOCK = Vocabulary("a block that phb leaves out")
LEFT_OUT = Vocabulary("a block that phb doesn't know")
WRONG = Vocabulary("a block that is wrong")

# The modular QoS command line, in the releases' own numbers ("class-map", "policy-map" and "service-policy" in the
# Cisco IOS Quality of Service Solutions Command Reference).
MQC = (Dialect.IOS_12, "12.0(5)T")
HQF = (Dialect.IOS_HQF, "12.4(20)T")
