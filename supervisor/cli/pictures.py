"""`--image`: pictures that go with a message. Read here, with the person's rights; the daemon gets the data."""

import base64
from argparse import Namespace

from supervisor.agents.picture_support import sees_no_pictures
from supervisor.cli.kit import ids
from supervisor.cli.kit.client import Control, Json
from supervisor.cli.kit.problems import Problem
from supervisor.disk.ordinary_files import read_ordinary
from supervisor.formats.picture_kinds import kind_of

MOST_BYTES = 11 << 20  # of all pictures together: with a third more, as text, they fit into one message


def message(prompt: str, files: list[str]) -> Json:
    """The members of a message with this prompt and these pictures."""
    if not files:
        return {"prompt": prompt}
    room, items = MOST_BYTES, [{"type": "text", "text": prompt}]
    for file in files:
        data = _read(file, room)
        room -= len(data)
        items.append({"type": "image", "image_url": _address(file, data)})
    return {"items": items}


def _read(file: str, room: int) -> bytes:
    try:
        data = read_ordinary(file, room + 1)
    except OSError as error:
        raise Problem(
            f"the picture {file!r} can't be read: {error.strerror}", "name a file that you may read", "usage"
        ) from None
    except ValueError:  # a NUL in the name
        raise Problem(f"{file!r} can't be the name of a file", "name a picture", "usage") from None
    if len(data) > room:
        excess = f"with {file!r} the pictures of this message have more than {MOST_BYTES >> 20} MiB"
        raise Problem(excess, "make them smaller, or send them in several messages", "usage")
    return data


def _address(file: str, data: bytes) -> str:
    kind = kind_of(data)
    if kind is None:
        raise Problem(f"{file!r} is not a PNG, JPEG, GIF or WebP picture", "convert it to one of them", "usage")
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def check_sight(control: Control, conversation: str, chosen: Namespace) -> None:
    """Raise a Problem if the agent or the model of the next turn is known to take no pictures."""
    found = control.call("conversation/get", conversation=conversation)
    settings, now = found["settings"], found["agent_now"]
    agent = settings["agent"] if chosen.agent is None else chosen.agent
    model = settings["model"] if chosen.model is None else chosen.model
    if agent in {"", "greenroom"}:
        if sees_no_pictures(model):
            raise Problem(
                f"the model {model} sees no pictures", "leave --image out, or choose a model with -m", "usage"
            )
    elif now is not None and now["agent"] == agent and now["session"] and "pictures" not in now["can"]:
        raise Problem(
            f"the agent {agent} takes no pictures", "leave --image out, or choose another with --agent", "usage"
        )


def check_sight_or_delete(control: Control, conversation: str, chosen: Namespace) -> None:
    """Do the same for a new conversation, and delete it if the Problem is raised."""
    try:
        check_sight(control, conversation, chosen)
    except Problem:
        control.delete(ids.resolve_id(control, conversation))
        raise
