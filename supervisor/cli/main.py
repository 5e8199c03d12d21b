"""The door: `greenroom VERB …`. Knows the verbs and where each one lives; imports only the one that is asked for."""

import argparse
import importlib
import sys
from collections.abc import Sequence

VERBS = {
    "demo": ("supervisor.cli.demo", "a tour with the built-in model: no key, no network"),
    "version": ("supervisor.cli.version", "the version of this program"),
}


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="greenroom", description="A supervisor for coding-agent conversations.", allow_abbrev=False
    )
    verbs = top.add_subparsers(dest="verb", metavar="VERB")
    for verb, (_, summary) in VERBS.items():
        verbs.add_parser(verb, help=summary, description=summary)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = parser().parse_args(arguments)
    if chosen.verb is None:
        parser().print_help()
        return 0
    module, _ = VERBS[chosen.verb]
    try:
        return int(importlib.import_module(module).run(chosen))
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        sys.stderr.close()  # whoever read us has gone; there is nobody to tell
        return 1


if __name__ == "__main__":
    sys.exit(main())
