"""Context for a model about its workplace: instructions, the project's AGENTS.md, directory, policy, sandbox.

Reads files, so it runs in a worker thread; knows no conversation. A project's guide that is a link out of the project
is left out: the project's author must not choose which of the person's files are sent.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from actors.vocabulary.events import MessageKind
from actors.vocabulary.settings import Settings, WorkspaceWrite
from supervisor.agents.skills.finding import find_skills, up_to_the_repository
from supervisor.agents.skills.skills_prompt import skills_text
from supervisor.disk.ordinary_files import NotReadable
from supervisor.work.reach.readable import OutOfReach, Reach

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


class Context(Struct, frozen=True):
    """The notices that the history should contain now, and the reason for each file that was left out."""

    notices: tuple[Notice, ...]
    left_out: tuple[str, ...] = ()


class Guides(Struct, frozen=True):
    """The texts of guides, and the reason for each guide that was left out."""

    texts: tuple[str, ...]
    left_out: tuple[str, ...]


def context_now(settings: Settings, reach: Reach, home: Path, max_bytes: int, skills_bytes: int = 0) -> Context:
    """Read the context. The caller compares its notices with those in the history.

    `home` is the folder of Greenroom's config. Without `skills_bytes`, skills are left out.
    """
    found, left_out = list[Notice](), list[str]()
    guides = read_guides(reach, home, max_bytes)
    left_out += guides.left_out
    if guides.texts:
        text = SEPARATOR.join(guides.texts)
        instructions = f"<user_instructions>\n\n{text}\n\n</user_instructions>"
        found.append(Notice(MessageKind.USER_INSTRUCTIONS, instructions))
    if skills_bytes:
        skills = find_skills(str(settings.cwd), str(reach.home or ""), str(home), reach.read)
        if text := skills_text(skills, skills_bytes):
            found.append(Notice(MessageKind.SKILLS, text))
    found.append(Notice(MessageKind.ENVIRONMENT_CONTEXT, environment_context(settings)))
    return Context(tuple(found), tuple(left_out))


def withdrawn_skills(wanted: Sequence[Notice], told: Mapping[MessageKind, str]) -> Iterator[Notice]:
    """Yield a notice that withdraws the skills, if the model was told of some and there are none any more."""
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


def read_guides(reach: Reach, home: Path, max_bytes: int) -> Guides:
    """Read the user's own guide, then the repository's from its root to the directory, `max_bytes` in all."""
    texts, left_out, room = list[str](), list[str](), max_bytes
    root, *down = reversed([*up_to_the_repository(str(reach.cwd))])
    for place, within in ((str(home), ""), *((place, root) for place in (root, *down))):
        path = os.path.join(place, GUIDE)  # noqa: PTH118  # pathlib takes longer, and every turn looks
        try:
            text = _text(reach, path, room, within)
        except OutOfReach as error:
            left_out.append(error.reason)
            continue
        if text:
            texts.append(text)
            room -= len(text.encode())
        if room <= 0:
            break
    return Guides(tuple(texts), tuple(left_out))


def _text(reach: Reach, path: str, room: int, within: str) -> str:
    """Return a guide's text, or nothing if there is none or it can't be read: the model works without it."""
    if not os.path.lexists(path):
        return ""
    try:
        return reach.read(path, room, within).decode("utf-8", "ignore").strip()
    except OutOfReach:
        raise
    except NotReadable:
        return ""
