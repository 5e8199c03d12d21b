"""A picture in a file, made into what a model can be sent. Blocking, for a worker thread."""

import base64
import mimetypes
from pathlib import Path
from urllib.parse import unquote, urlsplit

from supervisor.agent.bounds import DEFAULTS, Bounds
from supervisor.agent.model.history import Image, Part, Text
from supervisor.agent.reading import NoOrdinaryFile, read_ordinary


def readable(url: str, bounds: Bounds = DEFAULTS) -> Part:
    """The picture as a data URL; a file that can't be read is said in words, so that the model knows."""
    path = unquote(urlsplit(url).path)
    try:
        data = read_ordinary(Path(path), bounds.picture_bytes + 1)
    except NoOrdinaryFile as error:
        return Text(f"[the picture {path} {error.strerror}]")
    except (OSError, ValueError) as error:
        return Text(f"[the picture {path} could not be read: {getattr(error, 'strerror', error)}]")
    if len(data) > bounds.picture_bytes:
        return Text(f"[{bounds.beyond('picture_bytes', f'the picture {path} is too large')}]")
    kind = mimetypes.guess_type(path)[0] or "image/png"
    return Image(f"data:{kind};base64,{base64.b64encode(data).decode()}")
