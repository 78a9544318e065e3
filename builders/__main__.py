"""``python -m builders``."""

import sys

from coherencegym.builders.command.cli import main as main

if __name__ == "__main__":
    sys.exit(main())
