"""``python -m eval``."""

from __future__ import annotations

import sys

from coherencegym.eval.commands.cli import main

if __name__ == "__main__":
    sys.exit(main())
