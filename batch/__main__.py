"""`python -m batch`."""

import sys

from batch.memory import importing

with importing():
    from batch.cli import main

sys.exit(main())
