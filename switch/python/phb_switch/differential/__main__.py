"""``python -m phb_switch.differential``."""

import sys

from phb_switch.differential.command import run

sys.exit(run(sys.argv[1:]))
