"""A picture in a file, made into what a model can be sent. Blocking, for a worker thread."""

import base64
import mimetypes
from pathlib import Path
from urllib.parse import unquote, urlsplit

from supervisor.agent.model.history import Image, Part, Text
from supervisor.agent.reading import NoOrdinaryFile, read_ordinary

MAX_BYTES = 20 << 20  # what the large providers accept


def readable(url: str) -> Part:
    """The picture as a data URL; a file that can't be read is said in words, so that the model knows."""
    path = unquote(urlsplit(url).path)
    try:
        data = read_ordinary(Path(path), MAX_BYTES + 1)
    except NoOrdinaryFile as error:
        return Text(f"[the picture {path} {error.strerror}]")
    except (OSError, ValueError) as error:
        return Text(f"[the picture {path} could not be read: {getattr(error, 'strerror', error)}]")
    if len(data) > MAX_BYTES:
        return Text(f"[the picture {path} is larger than {MAX_BYTES >> 20} MiB]")
    kind = mimetypes.guess_type(path)[0] or "image/png"
    return Image(f"data:{kind};base64,{base64.b64encode(data).decode()}")
