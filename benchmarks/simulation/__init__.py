"""A deterministic simulation of calls, log, leases and store: see docs/simulation.md."""
