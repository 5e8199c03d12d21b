"""The mounts for a set of roots: writable paths, by descriptor, and closed paths inside them. Blocking.

Every folder between a root and a closed path in it is mounted too, on itself: a mount point can't be renamed, so the
closed path can't be moved away and replaced. A closed path that does not exist gets a placeholder.
"""

import contextlib
import errno
import os
import stat
from pathlib import Path

from msgspec import Struct, field

from supervisor.disk.folders import FOLDER, PASS, open_folder
from supervisor.work.sandbox.placeholders import Placeholders, is_placeholder
from supervisor.work.sandbox.roots import Root, Roots


class Mounts(Struct):
    """Mounts by path, with a descriptor of their content. In each group later mounts lie over earlier ones."""

    writable: dict[Path, int] = field(default_factory=dict)
    closed: dict[Path, int] = field(default_factory=dict)
    hidden: list[Path] = field(default_factory=list)

    @property
    def descriptors(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys((*self.writable.values(), *self.closed.values())))


def mounts_of(roots: Roots, placeholders: Placeholders, stack: contextlib.ExitStack) -> Mounts:
    """Make the mounts. Raises OSError if a folder was moved meanwhile; then no command may run."""
    return _Plan(roots, placeholders, stack).build()


class _Plan(Struct, frozen=True):
    roots: Roots
    placeholders: Placeholders
    stack: contextlib.ExitStack
    mounts: Mounts = field(default_factory=Mounts)

    def build(self) -> Mounts:
        mounts, roots = self.mounts, self.roots
        for root in roots.writable:
            if (outer := roots.innermost_root(root.path.parent)) is not None:
                self._walk(outer, root.path.parent)
            mounts.writable[root.path] = root.folder
        for path in roots.closed:
            self._close(path)
        for path in roots.hidden:
            self._hide(path)
        mounts.writable = dict(sorted(mounts.writable.items()))
        mounts.closed = dict(sorted(mounts.closed.items()))
        return mounts

    def _close(self, path: Path) -> None:
        outer = self.roots.innermost_root(path.parent)
        if outer is None:
            if path.exists():  # it contains a root, and is closed except for that
                self.mounts.closed[path] = self._adopt(open_folder(path))
            return
        folder = self._walk(outer, path.parent)
        if folder is None:
            return
        try:
            found = os.open(path.name, PASS, dir_fd=folder)
        except FileNotFoundError:
            self._hold(folder, path, file=path in self.roots.files)
            return
        if not stat.S_ISLNK(os.fstat(self._adopt(found)).st_mode):  # a mount can't cover a link; its target is closed
            self.mounts.closed[path] = found
            if is_placeholder(folder, path.name):  # it must stay as long as this command
                self._hold(folder, path, file=not stat.S_ISDIR(os.fstat(found).st_mode))

    def _hide(self, path: Path) -> None:
        if path.exists():
            outer = self.roots.innermost_root(path.parent)
            if outer is not None:
                self._walk(outer, path.parent)
            self.mounts.hidden.append(path)
        else:
            self._close(path)

    def _walk(self, outer: Root, path: Path) -> int | None:
        """Make mount points of the folders from the root to the path. None: a folder on the way is a placeholder."""
        folder, at = outer.folder, outer.path
        for name in path.relative_to(outer.path).parts:
            at /= name
            if at in self.mounts.closed:
                return None
            if at not in self.mounts.writable:
                try:
                    below = os.open(name, FOLDER, dir_fd=folder)
                except FileNotFoundError:
                    self._hold(folder, at, file=False)
                    return None
                self.mounts.writable[at] = self._adopt(below)
            folder = self.mounts.writable[at]
        return folder

    def _hold(self, folder: int, path: Path, *, file: bool) -> None:
        standing = self.stack.enter_context(self.placeholders.hold(folder, path.name, file=file))
        if standing is not None:
            self.mounts.closed[path] = standing
        elif os.access(".", os.W_OK, dir_fd=folder):
            raise OSError(errno.EBUSY, "what must not be created there could not be kept from it", str(path))

    def _adopt(self, descriptor: int) -> int:
        self.stack.callback(os.close, descriptor)
        return descriptor
