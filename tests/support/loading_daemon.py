"""The real daemon, which writes on SIGUSR2 the names of the modules that it has loaded and the models it has built.

The file is named by the variable LOADED_FILE.
"""

import gc
import os
import signal
import sys
from pathlib import Path

from pydantic import BaseModel, TypeAdapter

from supervisor.daemon import daemon_start

LOADED = "LOADED_FILE"


def write_loaded(*_: object) -> None:
    place = Path(os.environ[LOADED])
    unfinished = place.with_suffix(".new")
    unfinished.write_text("\n".join([*sys.modules, *built_models()]), encoding="utf-8")
    unfinished.rename(place)


def built_models() -> list[str]:
    """Name the models whose validators are built, and the adapters."""
    gc.unfreeze()  # the daemon has frozen those of its start
    kinds = [kind for kind in gc.get_objects() if isinstance(kind, type) and issubclass(kind, BaseModel)]
    adapters = [adapter for adapter in gc.get_objects() if isinstance(adapter, TypeAdapter)]
    return [
        *(f"{kind.__module__}.{kind.__qualname__}" for kind in kinds if kind.__pydantic_complete__),
        *(f"adapter of {str(adapter._type)[:80]}" for adapter in adapters if adapter.pydantic_complete),
    ]


if __name__ == "__main__":
    signal.signal(signal.SIGUSR2, write_loaded)
    sys.exit(daemon_start.main())
