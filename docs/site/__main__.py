"""Write the site's pages: ``python -m docs.site FOLDER``."""

import sys
from pathlib import Path

from docs.site.staging import stage

if __name__ == "__main__":
    stage(Path(sys.argv[1]))
