"""Modules that libraries import at once and an idle daemon never uses: here they are loaded at their first use.

OpenSSL alone is 4 MiB; the first model that is asked over TLS loads it.
"""

import sys
import threading
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from types import ModuleType
from typing import Any

LATE = {
    "ssl": (),
    "asyncio.sslproto": (),
    "secrets": (),
    "importlib.metadata": ("entry_points",),
    "tempfile": (),
    "shutil": (),  # with three ways of compression
    "difflib": (),
    "zoneinfo": (
        "ZoneInfo",
        "ZoneInfoNotFoundError",
    ),  # with all that Python was built with; no model of ours has one
}


def load_late() -> None:
    """Before anything else imports them. asyncio's part for TLS asks ssl for names as soon as it is imported."""
    for name, functions in LATE.items():
        package = PathFinder.find_spec(name.partition(".")[0])
        _load_late(name, package.submodule_search_locations if package and "." in name else None, functions)
    sys.modules["rich"] = None  # type: ignore[assignment]  # structlog would paint tracebacks with it: 5 MiB
    import_module("structlog")
    del sys.modules["rich"]
    for name in LATE:
        package_name, _, inner = name.rpartition(".")
        if package_name:  # an import would have bound it there
            setattr(import_module(package_name), inner, sys.modules[name])


class _Late(ModuleType):
    """A module that is loaded when a name of it is asked for. The library's LazyLoader loads at the second import."""

    def __getattr__(self, name: str) -> Any:
        _load(self)
        return ModuleType.__getattribute__(self, name)


_loading = threading.RLock()  # held by the thread that loads one; others that ask for a name wait until it is whole
_begun: set[str] = set()  # a module's own code may ask for it before it is whole, in a circle


def _load(module: ModuleType) -> None:
    with _loading:
        spec = module.__spec__
        assert spec is not None and spec.loader is not None  # noqa: S101, PT018  # see _load_late
        if type(module) is _Late and spec.name not in _begun:
            _begun.add(spec.name)
            try:
                spec.loader.exec_module(module)
            finally:
                _begun.discard(spec.name)  # one that could not be read, for want of a descriptor, is tried again
            module.__class__ = ModuleType  # type: ignore[assignment]  # from here on it is an ordinary one


def _load_late(name: str, places: Sequence[str] | None, functions: Sequence[str]) -> None:
    """`functions` are those that others import by name: calling them loads the module."""
    spec = PathFinder.find_spec(name, places)
    if name in sys.modules or spec is None or spec.loader is None:
        return
    sys.modules[name] = module = module_from_spec(spec)
    for function in functions:
        setattr(module, function, partial(_call, module, function))
    module.__class__ = _Late


def _call(module: ModuleType, function: str, *args: Any, **named: Any) -> object:
    _load(module)  # which puts its own in the place of this one
    return getattr(module, function)(*args, **named)


def use_no_plugins() -> None:
    """Keep pydantic from looking for plugins: it would read the metadata of all packages, at a model's first use.

    Its variable for that would be inherited by every command; this is the cache that it would fill.
    """
    from pydantic.plugin import _loader

    _loader._plugins = {}  # noqa: SLF001  # tests/supervisor/daemon/test_idle.py says when it means nothing any more
