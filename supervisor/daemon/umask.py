"""Which rights the files of this process don't get by themselves. Standard library only: the bridge imports it."""

import os

USUAL = 0o022  # of nearly all systems: others may read, and not write


def own_umask() -> int:
    """It can only be read by setting it, for the whole process; in between it is stricter and never looser."""
    umask = os.umask(0o077)
    os.umask(umask)
    return umask
