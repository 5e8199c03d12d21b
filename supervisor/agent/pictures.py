"""Pictures in the form that a model can be sent: data in place of files, words in place of unusable pictures.

Blocking, for a worker thread. Nothing here raises: without a picture its conversation goes on.
"""

import base64
from pathlib import Path

from actors.vocabulary.brief import brief
from supervisor.agent.bounds import DEFAULTS, Bounds
from supervisor.agent.model.request import Image, LocalImage, Text
from supervisor.agent.reading import NoOrdinaryFile, read_ordinary

SHOWN = 80  # characters of an address in a message
STARTS: dict[str, bytes | tuple[bytes, ...]] = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": (b"GIF87a", b"GIF89a"),
}
ADDRESSES = ("https://", "http://", "data:image/")


def readable(picture: Image | LocalImage, cwd: Path, bounds: Bounds = DEFAULTS) -> Image | Text:
    """Return a picture that a provider takes, or the words that replace it. A relative file is below `cwd`."""
    if isinstance(picture, LocalImage):
        return _from_file(cwd / picture.path, bounds)
    if is_address(picture.url):
        return picture
    shown = brief(picture.url, SHOWN)
    return Text(f"[the picture {shown!a} was left out: its address is neither https: nor data:image/]")


def is_address(url: str) -> bool:
    """Tell whether a provider can be sent the address as it is."""
    return url.lower().startswith(ADDRESSES)


def _from_file(path: Path, bounds: Bounds) -> Image | Text:
    try:
        data = read_ordinary(path, bounds.picture_bytes + 1)
    except NoOrdinaryFile as error:
        return Text(f"[the picture {path} {error.strerror}]")
    except (OSError, ValueError) as error:
        return Text(f"[the picture {path} could not be read: {getattr(error, 'strerror', error)}]")
    try:
        return Image(picture_of(data, str(path), bounds))
    except NoPicture as error:
        return Text(f"[{error}]")


class NoPicture(Exception):
    """The data can't be sent as a picture. The text says why."""


def picture_of(data: bytes, name: str, bounds: Bounds) -> str:
    """Return a picture's data as an address. Raises NoPicture."""
    if len(data) > bounds.picture_bytes:
        raise NoPicture(bounds.beyond("picture_bytes", f"the picture {name} is too large"))
    kind = kind_of(data)
    if kind is None:
        raise NoPicture(f"the picture {name} is not a PNG, JPEG, GIF or WebP file")
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def kind_of(data: bytes) -> str | None:
    """Return the media type by the first bytes. A provider refuses other types, and every later request with them."""
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for kind, starts in STARTS.items() if data.startswith(starts)), None)
