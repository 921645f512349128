"""vanling: a self-hosted voice server for edge boxes."""

__version__ = "0.1.0"
