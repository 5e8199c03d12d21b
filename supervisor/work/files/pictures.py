"""Picture files read as `data:` addresses. Blocking, for a worker thread."""

import base64

from supervisor.config.bounds import Bounds
from supervisor.formats.picture_kinds import kind_of
from supervisor.work.reach.readable import Reach


def picture_in(path: str, reach: Reach, bounds: Bounds) -> str:
    """Return the picture in a file as an address. Raises NotReadable, NoPicture."""
    return picture_of(reach.read(path, bounds.picture_bytes + 1), path, bounds)


class NoPicture(Exception):
    """The data can't be sent as a picture. The text says why."""


def picture_of(data: bytes, name: str, bounds: Bounds) -> str:
    """Return a picture's data as an address. Raises NoPicture."""
    if len(data) > bounds.picture_bytes:
        raise NoPicture(bounds.describe_excess("picture_bytes", f"the picture {name} is too large"))
    kind = kind_of(data)
    if kind is None:
        raise NoPicture(f"the picture {name} is not a PNG, JPEG, GIF or WebP file")
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"
