"""Live pages over a store: a local server, its pages as plain data, and their templates."""
