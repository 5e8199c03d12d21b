"""Lazy loading of modules that libraries import at once and an idle daemon never uses. Any thread.

OpenSSL alone is 4 MiB; the first request to a model over TLS loads it.
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

LAZY_MODULES = {
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
    ),  # loads the variables of Python's build; no model of ours has a time zone
}


def install_lazy_modules() -> None:
    """Install the lazy modules, before anything imports them. asyncio.sslproto is lazy, as its import loads ssl."""
    for name, functions in LAZY_MODULES.items():
        package = PathFinder.find_spec(name.partition(".")[0])
        _load_late(name, package.submodule_search_locations if package and "." in name else None, functions)
    sys.modules["rich"] = None  # type: ignore[assignment]  # structlog would paint tracebacks with it: 5 MiB
    import_module("structlog")
    del sys.modules["rich"]
    for name in LAZY_MODULES:
        package_name, _, inner = name.rpartition(".")
        if package_name:  # an import would have bound the module in its package
            setattr(import_module(package_name), inner, sys.modules[name])


class _Late(ModuleType):
    """A module that is loaded when a name of it is asked for. importlib's LazyLoader loads at the second import."""

    def __getattr__(self, name: str) -> Any:
        _load(self)
        return ModuleType.__getattribute__(self, name)


_loading = threading.RLock()  # held by the thread that loads a module; others that ask for a name wait for the end
_under_way: set[str] = set()  # names of modules whose own code may ask for them again, in a circle


def _load(module: ModuleType) -> None:
    with _loading:
        spec = module.__spec__
        assert spec is not None and spec.loader is not None  # noqa: S101, PT018  # see _load_late
        if type(module) is _Late and spec.name not in _under_way:
            _under_way.add(spec.name)
            try:
                spec.loader.exec_module(module)
            finally:
                _under_way.discard(spec.name)  # after a failure, for want of a descriptor, the next use tries again
            module.__class__ = ModuleType  # type: ignore[assignment]  # an ordinary module from here on


def _load_late(name: str, places: Sequence[str] | None, functions: Sequence[str]) -> None:
    """Install one lazy module. `functions`: names that others import from it; calling one loads the module."""
    spec = PathFinder.find_spec(name, places)
    if name in sys.modules or spec is None or spec.loader is None:
        return
    sys.modules[name] = module = module_from_spec(spec)
    for function in functions:
        setattr(module, function, partial(_call, module, function))
    module.__class__ = _Late


def _call(module: ModuleType, function: str, *args: Any, **named: Any) -> object:
    _load(module)  # replaces this stand-in by the module's own function
    return getattr(module, function)(*args, **named)


def use_no_plugins() -> None:
    """Keep pydantic from looking for plugins: it would read the metadata of all packages, at a model's first use.

    The cache is filled instead of setting pydantic's variable, which every command would inherit.
    """
    from pydantic.plugin import _loader

    _loader._plugins = {}  # noqa: SLF001  # tests/supervisor/daemon/test_idle.py fails when it has no effect any more
