"""Imports libraries without modules that they name at once and an idle daemon never uses. Main thread, at the start.

OpenSSL is 5 MiB of an idle daemon, the search for plugins of pydantic 2, see docs/decisions.md.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

LATE = ("ssl", "asyncio.sslproto", "secrets")  # the libraries ask them for a name in functions alone
USERS = ("asyncio", "pydantic.types", "pydantic.plugin._loader")


def import_leanly() -> None:
    """Import these libraries before anything else does. Whoever imports a module of LATE afterwards gets it whole."""
    forwards = [_Forward(name) for name in LATE if name not in sys.modules]
    metadata = ModuleType("importlib.metadata")
    metadata.entry_points = lambda **_: ()  # type: ignore[attr-defined]  # no plugins: their search reads all packages
    borrowed = {module.__name__: module for module in (*forwards, metadata) if module.__name__ not in sys.modules}
    sys.modules.update(borrowed)
    try:
        for user in USERS:
            import_module(user)
    finally:
        for name in borrowed:
            del sys.modules[name]


class _Forward(ModuleType):
    """Stands for a module in a library's globals, and imports it when the library asks for a name."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)
