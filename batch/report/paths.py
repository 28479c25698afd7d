"""Where templates and fonts are."""

from __future__ import annotations

from pathlib import Path

REPORTS = Path(__file__).resolve().parents[2] / "reports"
FONTS = REPORTS / "fonts"
TEMPLATES = REPORTS / "templates"
