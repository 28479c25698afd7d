"""Nightcap: the nightly capacity report for Kubernetes."""

import os

__version__ = "0.1.0"

# numpy's BLAS starts a thread for every core of the node, which here would only wait: matrices are small. And sums do not depend on how many cores share them.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
