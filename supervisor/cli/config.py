"""`greenroom config` and `reload`: show the configuration, find its file, check it, have it read again."""

import os
import sys
from argparse import Namespace

from supervisor.cli.kit.client import Control
from supervisor.cli.kit.json_output import json_text, output_json
from supervisor.cli.kit.problems import Problem


def run(chosen: Namespace) -> int:
    if chosen.key is not None and chosen.what != "get":
        raise Problem(f"`config {chosen.what}` takes no key", "`greenroom config get KEY` prints one", "usage")
    return {"get": _get, "path": _path, "check": _check}[chosen.what](chosen)


def reload(chosen: Namespace) -> int:
    with Control("reload") as control:
        answer = control.reload()
    if chosen.json:
        print(json_text(vars(answer)))
        return 0
    for warning in answer.warnings:
        print(f"greenroom: {warning}", file=sys.stderr)
    for change in answer.changes:
        later = "" if change["live"] else " (takes effect at the next start of the daemon)"
        print(f"{change['key']}: {change['old']} → {change['new']}{later}")
    if not answer.changes:
        print("nothing changed")
    return 0


def _get(chosen: Namespace) -> int:
    with Control("config") as control:
        answer = control.config(chosen.key)
    value = answer.value
    if chosen.json:
        print(output_json(vars(answer)))
    elif isinstance(value, dict):
        for key, leaf in _flat(value):
            print(f"{key} = {json_text(leaf)}")
    else:
        print(value if isinstance(value, str) else json_text(value))
    return 0


def _flat(tree: dict[str, object], above: str = "") -> list[tuple[str, object]]:
    """Keys and values, in the spelling that -c takes."""
    rows: list[tuple[str, object]] = []
    for key, value in tree.items():
        path = f"{above}.{key}" if above else key
        rows += _flat(value, path) if isinstance(value, dict) and value else [(path, value)]
    return rows


def _path(chosen: Namespace) -> int:
    from supervisor.config.load import find_file
    from supervisor.paths import config_files

    path, shared = find_file(None, os.environ)
    if chosen.json:
        print(json_text({"path": path, "shared": shared, "would_be": config_files()[0]}))
        return 0
    if path is None:
        print(
            f"greenroom: no config file exists, so defaults apply; to set something, create {config_files()[0]}",
            file=sys.stderr,
        )
        return 1
    print(path)
    return 0


def _check(chosen: Namespace) -> int:
    from actors.vocabulary.errors import ConfigError
    from supervisor.config.load import load

    try:
        loaded = load()
    except ConfigError as error:
        raise Problem(error.message, "`greenroom help config` explains where keys belong", "config") from error
    if chosen.json:
        print(json_text({"path": loaded.file.path, "warnings": list(loaded.warnings)}))
        return 0
    for warning in loaded.warnings:
        print(warning)
    print(f"{loaded.file.path or 'no config file'}: ok")
    return 0
