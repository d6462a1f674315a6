"""Model files, and models that run in this process or on this machine."""
