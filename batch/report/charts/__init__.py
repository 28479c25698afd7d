"""Draws the charts: SVG in the report's own font, with labels at the marks instead of legends."""
