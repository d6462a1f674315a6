"""What tests of Ragstone, of its plugins and of your own code can use: fakes that are real servers.

with FakeModelServer(faults={"429": 0.1, "cut": 0.05}) as server:
    endpoint = Endpoint("fake", (server.url,))
"""

from __future__ import annotations

from ragstone.testing.fake_model_server import FAULTS, FakeModelServer

__all__ = ["FAULTS", "FakeModelServer"]
