"""Context for a model about its workplace: instructions, the project's AGENTS.md, directory, policy, sandbox.

Reads files, so it runs in a worker thread; knows no conversation.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from actors.vocabulary.events import MessageKind
from actors.vocabulary.settings import Settings, WorkspaceWrite
from supervisor.agent.reading import read_ordinary
from supervisor.agent.skills.finding import find_skills, up_to_the_repository
from supervisor.agent.skills.telling import skills_text

GUIDE = "AGENTS.md"
SEPARATOR = "\n\n--- project-doc ---\n\n"

BASE_INSTRUCTIONS = """\
You are a coding agent that works in a user's directory through tools.

Read before you change, with read_file, list_dir and grep rather than by commands, and several at once where you can.
Make the smallest change that does what was asked, and check it by running what the project
offers for that. Commands run in a sandbox that the environment context describes; when one fails because of it, say
so and ask to run it outside, with a one-line reason, where the tools offer that. Edit files with apply_patch. Never
undo work that is not yours. When you are done, say in a few sentences what you did and what you could not do.
"""


NO_SKILLS = "<skills>\nThere are no skills any more.\n</skills>"


class Notice(Struct, frozen=True):
    """A message of ours in the model's history."""

    kind: MessageKind
    text: str


def notices(
    settings: Settings, home: Path, max_bytes: int, *, user_home: str = "", skills_bytes: int = 0
) -> Iterator[Notice]:
    """Yield the notices that the history should contain now. The caller compares them with those it contains.

    `home` is the folder of Greenroom's config, `user_home` the user's own.
    """
    guides = guide_texts(settings.cwd, home, max_bytes)
    if guides:
        text = SEPARATOR.join(guides)
        yield Notice(MessageKind.USER_INSTRUCTIONS, f"<user_instructions>\n\n{text}\n\n</user_instructions>")
    if skills_bytes and (text := skills_text(find_skills(str(settings.cwd), user_home, str(home)), skills_bytes)):
        yield Notice(MessageKind.SKILLS, text)
    yield Notice(MessageKind.ENVIRONMENT_CONTEXT, environment_context(settings))


def gone(wanted: Sequence[Notice], told: Mapping[MessageKind, str]) -> Iterator[Notice]:
    """Yield a notice that takes back what was told of skills, if there are none any more."""
    if MessageKind.SKILLS in told and not any(notice.kind is MessageKind.SKILLS for notice in wanted):
        yield Notice(MessageKind.SKILLS, NO_SKILLS)


def environment_context(settings: Settings) -> str:
    sandbox = settings.sandbox
    network = sandbox.mode == "danger-full-access" or (isinstance(sandbox, WorkspaceWrite) and sandbox.network_access)
    lines = [
        f"Current working directory: {settings.cwd}",
        f"Approval policy: {settings.approval_policy.value}",
        f"Sandbox mode: {sandbox.mode}",
        f"Network access: {'enabled' if network else 'restricted'}",
    ]
    if isinstance(sandbox, WorkspaceWrite) and sandbox.writable_roots:
        lines.append(f"Writable roots: {', '.join(str(root) for root in sandbox.writable_roots)}")
    body = "\n".join(lines)
    return f"<environment_context>\n{body}\n</environment_context>"


def guide_texts(cwd: Path, home: Path, max_bytes: int) -> list[str]:
    """Return the user's own guide, then the repository's from its root to the directory, `max_bytes` in all."""
    texts, room = [], max_bytes
    from_root_down = reversed([*up_to_the_repository(str(cwd))])
    for place in (str(home), *from_root_down):
        text = _read(os.path.join(place, GUIDE), room)  # noqa: PTH118  # pathlib takes longer, and every turn looks
        if text:
            texts.append(text)
            room -= len(text.encode())
        if room <= 0:
            break
    return texts


def _read(path: str, room: int) -> str:
    """Return a guide's text, or nothing if there is none or it can't be read: the model works without it."""
    try:
        return read_ordinary(path, room).decode("utf-8", "ignore").strip()
    except OSError:
        return ""
