"""Makes the fixtures available here without a `pytest_plugins` at the root."""

from support.hub.fixtures import hub, hub_api, hub_clients, hub_env, hub_sleeps

__all__ = ["hub", "hub_api", "hub_clients", "hub_env", "hub_sleeps"]
