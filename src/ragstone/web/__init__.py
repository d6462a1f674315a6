"""Shared parts of all pages of a server on this machine: access, addresses, numbers, style."""
