"""The keys that `greenroom login` has stored, and the provider that it chose. Any thread; standard library only.

The file is in the state directory, which no command sees: a model that reads the config directory must not find it.
"""

import contextlib
import json
import os
from collections.abc import Mapping
from typing import NamedTuple

from supervisor.paths import locate, private_directory

FILE = "keys.json"


class StoredKeys(NamedTuple):
    """The stored keys, by the variables that could hold them. `provider`: counts if the config names none."""

    provider: str = ""
    keys: Mapping[str, str] = {}

    def __repr__(self) -> str:
        return f"StoredKeys(provider={self.provider!r}, keys of {sorted(self.keys)})"


def read_keys(environ: Mapping[str, str]) -> StoredKeys:
    """Read the file. Raises OSError and ValueError, whose texts are for a person."""
    path = _path(environ)
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123  # pathlib is slow to import
            found = json.load(file)
    except FileNotFoundError:
        return StoredKeys()
    except ValueError:
        raise ValueError(f"{path}: not what `greenroom login` has written; remove it and log in again") from None
    match found:
        case {"provider": str(provider), "keys": dict(keys)} if all(isinstance(key, str) for key in keys.values()):
            return StoredKeys(provider, keys)
        case _:
            raise ValueError(f"{path}: not what `greenroom login` has written; remove it and log in again")


def write_keys(stored: StoredKeys, environ: Mapping[str, str]) -> str:
    """Write the file whole or not at all, for nobody else to read; return its path."""
    path = _path(environ)
    private_directory(os.path.dirname(path))  # noqa: PTH120
    fresh = f"{path}.{os.urandom(4).hex()}"
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            json.dump({"provider": stored.provider, "keys": dict(stored.keys)}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path)  # noqa: PTH105
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(fresh)  # noqa: PTH108
    return path


def _path(environ: Mapping[str, str]) -> str:
    return os.path.join(locate(environ).state, FILE)  # noqa: PTH118
