"""The umask of this process. Standard library only: the bridge imports it."""

import os

USUAL = 0o022  # of nearly all systems: others may read, and not write


def own_umask() -> int:
    """The umask, which is only read by setting it for the whole process; meanwhile it is stricter, never looser."""
    umask = os.umask(0o077)
    os.umask(umask)
    return umask
