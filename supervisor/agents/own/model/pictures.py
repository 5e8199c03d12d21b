"""Pictures in the form that a model can be sent: data in place of files, words in place of unusable pictures.

Blocking, for a worker thread. Nothing here raises: without a picture its conversation goes on.
"""

from actors.vocabulary.brief import brief
from supervisor.agents.own.model.request import Image, LocalImage, TextPart
from supervisor.config.bounds import DEFAULTS, Bounds
from supervisor.disk.ordinary_files import NotReadable
from supervisor.work.files.pictures import NoPicture, picture_in
from supervisor.work.reach.readable import Reach

SHOWN = 80  # characters of an address in a message
ADDRESSES = ("https://", "http://", "data:image/")


def readable_picture(picture: Image | LocalImage, reach: Reach, bounds: Bounds = DEFAULTS) -> Image | TextPart:
    """Return a picture that a provider takes, or the words that replace it."""
    if isinstance(picture, LocalImage):
        return _from_file(str(reach.cwd / picture.path), reach, bounds)
    if is_address(picture.url):
        return picture
    shown = brief(picture.url, SHOWN)
    return TextPart(f"[the picture {shown!a} was left out: its address is neither https: nor data:image/]")


def is_address(url: str) -> bool:
    """Tell whether a provider can be sent the address as it is."""
    return url.lower().startswith(ADDRESSES)


def _from_file(path: str, reach: Reach, bounds: Bounds) -> Image | TextPart:
    try:
        return Image(picture_in(path, reach, bounds))
    except NotReadable as error:
        return TextPart(f"[a picture was left out: {error.reason}]")
    except NoPicture as error:
        return TextPart(f"[{error}]")
