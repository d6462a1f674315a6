"""Charts of the report, as Vega-Lite specifications."""
