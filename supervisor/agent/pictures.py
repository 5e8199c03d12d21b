"""A picture in a file, made into what a model can be sent. Blocking, for a worker thread."""

import base64
import mimetypes
from urllib.parse import unquote, urlsplit

from supervisor.agent.model.history import Image, Part, Text

MAX_BYTES = 20 << 20  # what the large providers accept


def readable(url: str) -> Part:
    """The picture as a data URL; a file that can't be read is said in words, so that the model knows."""
    path = unquote(urlsplit(url).path)
    try:
        with open(path, "rb") as file:  # noqa: PTH123  # the path comes out of a URL as text
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        return Text(f"[the picture {path} could not be read: {error.strerror}]")
    if len(data) > MAX_BYTES:
        return Text(f"[the picture {path} is larger than {MAX_BYTES >> 20} MiB]")
    kind = mimetypes.guess_type(path)[0] or "image/png"
    return Image(f"data:{kind};base64,{base64.b64encode(data).decode()}")
