"""The configuration: found, read, checked and layered once, then a frozen value for everybody else.

Knows nothing of daemons or clients. Everything here is safe from any thread; only `load` and `derive` touch the disk.
"""

from supervisor.config.changes import Change, differences
from supervisor.config.derive import Arguments, settings_for
from supervisor.config.load import LoadedConfig, load
from supervisor.config.models import Config
from supervisor.config.overrides import overrides_from_json, parse_overrides
from supervisor.config.providers import Provider, choose_provider, provider_named

__all__ = [
    "Arguments",
    "Change",
    "Config",
    "LoadedConfig",
    "Provider",
    "choose_provider",
    "differences",
    "load",
    "overrides_from_json",
    "parse_overrides",
    "provider_named",
    "settings_for",
]
