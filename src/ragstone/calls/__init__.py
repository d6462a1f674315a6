"""Calls to language models: client, log, scheduler, HTTP, prices."""
