"""`greenroom version`."""

import argparse
from importlib.metadata import version


def run(_: argparse.Namespace) -> int:
    print(f"greenroom {version('greenroom')}")
    return 0
