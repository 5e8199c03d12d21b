"""`greenroom mcp`: MCP over stdio, for editors. Standard library only: it starts once per editor and per window."""

import json
import os
import socket
import sys
import time

from supervisor.launch import StartFailed, launch
from supervisor.paths import Paths, locate, private_directory, socket_path
from supervisor.version import VERSION
from transports.bridge import Bridge, Refused, clean_stdout

LOG_BYTES = 1 << 20  # then it begins anew: it says a line per connection


def run(options: dict[str, object]) -> int:
    """`options`: the defaults for new conversations that the command line gave."""
    paths = locate()
    private_directory(paths.state)
    hello = _hello(options)
    with clean_stdout() as wire:
        return Bridge(0, wire, _dialler(paths), hello, _noter(paths)).run()


def _dialler(paths: Paths):
    path = socket_path(paths)

    def dial(start: bool):
        for attempt in (False, True):
            found = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                found.connect(path)
            except OSError:
                found.close()
                if attempt or not start:
                    return None
                try:
                    launch()
                except StartFailed as error:
                    raise Refused(str(error)) from error
            else:
                return found
        return None

    return dial


def _hello(options: dict[str, object]) -> bytes:
    client = {
        "name": "mcp",
        "version": VERSION,
        "pid": os.getpid(),
        "cwd": os.getcwd(),
        "env": dict(os.environ),
    }
    hello = {"greenroom": {"protocol": 1, "dialect": "mcp", "client": client, "options": options}}
    return json.dumps(hello).encode() + b"\n"


def _noter(paths: Paths):
    path = os.path.join(paths.state, "bridge.log")

    def note(text: str) -> None:
        try:
            mode = "w" if os.path.exists(path) and os.path.getsize(path) > LOG_BYTES else "a"
            with open(path, mode, encoding="utf-8") as log:
                log.write(f"{time.strftime('%Y-%m-%dT%H:%M:%S')} [{os.getpid()}] {text}\n")
        except OSError:
            sys.stderr.write(f"greenroom mcp: {text}\n")

    return note
