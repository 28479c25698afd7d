"""Nightcap: the nightly capacity report for Kubernetes."""

__version__ = "0.1.0"
