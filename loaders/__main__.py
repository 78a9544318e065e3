"""``python -m loaders``."""

import sys

from coherencegym.loaders.cli import main

if __name__ == "__main__":
    sys.exit(main())
