"""How wide a text is in the report's font."""

from __future__ import annotations

from functools import cache

from matplotlib import font_manager
from matplotlib.ft2font import FT2Font, LoadFlags

from batch.report.paths import FONTS

FAMILY = "Inter"
CHART_POINTS = 7.5
"""Size of the letters in charts, which are drawn at true size."""

_FACES = {"normal": "Regular", "medium": "Medium", "semibold": "SemiBold", "bold": "Bold"}
_MM_A_POINT = 25.4 / 72
_EM = 100
_OTHER_FONT_EM = 1.0
"""Width of a character that another font has to show: Chinese, Japanese, Korean and emoji take a full em."""


@cache
def register_fonts() -> None:
    """Make the shipped fonts known to matplotlib, once."""
    for path in sorted(FONTS.glob("*.ttf")):
        font_manager.fontManager.addfont(path)


def text_mm(text: str, weight: str = "normal", points: float = CHART_POINTS) -> float:
    """Measure a text, in mm, without kerning; `weight` is normal, medium, semibold or bold."""
    return sum(_advance(character, weight) for character in text) * points * _MM_A_POINT


def clipped(text: str, width_mm: float, weight: str = "normal") -> str:
    """Cut a text in a chart that is wider than that, visibly."""
    if text_mm(text, weight) <= width_mm:
        return text
    shown = text
    while shown and text_mm(f"{shown}…", weight) > width_mm:
        shown = shown[:-1]
    return f"{shown}…"


def middle_cut(text: str, width_mm: float, weight: str = "normal") -> str:
    """Cut a name in a chart that is wider than that in its middle: names of one family differ at their ends."""
    if text_mm(text, weight) <= width_mm:
        return text
    kept = len(text) - 1
    while kept and text_mm(shown := f"{text[: (kept + 1) // 2]}…{text[len(text) - kept // 2 :]}", weight) > width_mm:
        kept -= 1
    return shown if kept else "…"


@cache
def _face(weight: str) -> FT2Font:
    face = FT2Font(str(FONTS / f"{FAMILY}-{_FACES[weight]}.ttf"))
    face.set_size(_EM, 72)
    return face


@cache
def _advance(character: str, weight: str) -> float:
    """Give the width of a character, in em."""
    face = _face(weight)
    if not face.get_char_index(ord(character)):
        return _OTHER_FONT_EM
    return float(face.load_char(ord(character), LoadFlags.NO_HINTING).linearHoriAdvance) / 65536 / _EM
