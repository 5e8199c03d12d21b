"""The umask of this process. Standard library only: the bridge imports it."""

import os

USUAL = 0o022  # of nearly all systems: others may read, but not write


def own_umask() -> int:
    """Read the umask. That takes setting it for the whole process; meanwhile it is stricter, never looser."""
    umask = os.umask(0o077)
    os.umask(umask)
    return umask
