"""Charts as Vega-Lite specifications, and as files."""
