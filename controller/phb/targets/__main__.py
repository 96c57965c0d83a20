"""Put the table into docs/evidence/recorded/targets.md, or print it: ``python -m phb.targets [DOCUMENT]``."""

import sys
from pathlib import Path

from phb.targets import markdown, with_table

if __name__ == "__main__":
    if sys.argv[1:]:
        document = Path(sys.argv[1])
        document.write_text(with_table(document.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        print(markdown(), end="")
