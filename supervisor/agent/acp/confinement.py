"""The sandbox round a whole agent process of somebody else's, for as long as it lives. Blocking: worker threads.

Decides what it may write: what the conversation's policy opens, and places of its own. Starts nothing, and knows
nothing of what is said on its wire.
"""

import contextlib
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from actors.vocabulary.settings import DangerFullAccess, Pin, Settings
from supervisor.agent.acp.confined_agents import EMPTY_SETTINGS, LEADING, Leading, inside, kind_of
from supervisor.agent.acp.git_desk import make_desk
from supervisor.agent.folders import lies_in
from supervisor.agent.sandbox.confined import Confined
from supervisor.agent.sandbox.roots import Own
from supervisor.agent.sandbox.sandbox import Sandbox
from supervisor.config.agent_definitions import AgentDefinition
from supervisor.config.known_agents import KNOWN, places_of
from transports.requests import GivenServer

WITHOUT = "`--sandbox danger-full-access` runs it without one, then its own questions are all that protects you"


class NotConfined(OSError):
    """The agent must not be started. The text says why, and what to do."""


class Confinement(Struct, frozen=True):
    """All that a running agent and its sandbox were made of. Another one means that it must be started anew."""

    sandbox: str
    directories: tuple[str, ...]
    program: str
    servers: str = ""  # that a client gave

    def changes(self, other: "Confinement") -> str:
        """Name what differs, in words."""
        differing = [name for name in self.__struct_fields__ if getattr(self, name) != getattr(other, name)]
        return " and ".join(f"its {name}" for name in differing)


def fingerprint(settings: Settings, definition: AgentDefinition, given: Sequence[GivenServer] = ()) -> Confinement:
    """Return what the sandbox is made of. Pure and cheap: asked before each prompt."""
    policy = settings.sandbox
    roots = (f"{pin.name} {pin.path} {pin.inode}" for pin in settings.roots or ())
    # The variables may hold secrets, so only their hash is kept.
    program = (definition.argv, sorted(definition.env.items()), definition.own, definition.network)
    added = inside(kind_of(definition), settings.approval_policy)
    return Confinement(
        sandbox=f"{policy.model_dump_json()} {definition.confine} {added}",
        directories=(str(settings.cwd), str(definition.cwd or ""), *roots),
        program=hashlib.sha256(msgspec.json.encode(program, enc_hook=str)).hexdigest(),
        servers=hashlib.sha256(repr(given).encode("utf-8", "replace")).hexdigest() if given else "",
    )


def is_confined(settings: Settings, definition: AgentDefinition) -> bool:
    """Tell whether our sandbox is round the agent. If so its own, which could only get in the way, can be off."""
    return not isinstance(settings.sandbox, DangerFullAccess) and definition.confine != "none"


@contextlib.contextmanager
def confined(
    sandbox: Sandbox,
    settings: Settings,
    definition: AgentDefinition,
    env: Mapping[str, str],
    pins: Sequence[Pin],
    desk: Path | None = None,
) -> Iterator[Confined]:
    """Yield what starts the agent; leave the context when it has ended. Raises NotConfined: it must not start.

    `desk`: the folder to be made for its git, see git_desk.py.
    `env` is the conversation's; `pins` are its roots, which mean in there what they meant at its start.
    """
    start, given = definition.cwd or settings.cwd, {**env, **definition.env}
    if not is_confined(settings, definition):
        yield Confined(definition.argv, start, given)
        return
    if not sandbox.availability.ok:
        found = sandbox.availability
        raise NotConfined(f"nothing confines it here: {found.reason}; {found.how_to_get}, or {WITHOUT}")
    added = inside(kind_of(definition), settings.approval_policy)
    argv, given = (*definition.argv, *added.args), {**env, **added.env, **definition.env}
    own = own_of(definition, given)
    _refuse_ours(sandbox, definition, start, own)
    writable = [pin.path for pin in pins if pin.path is not None]
    placed = make_desk(desk, given, (*writable, *own.places)) if desk is not None else ()
    with sandbox.confine_agent(
        settings.sandbox,
        settings.cwd,
        argv,
        given,
        start=start,
        pins=pins,
        own=own,
        network=definition.network,
        placed=placed,
    ) as made:
        yield made


def own_of(definition: AgentDefinition, env: Mapping[str, str]) -> Own:
    """Return the agent's own places, which are made if they are missing, and what stays shut in them."""
    kind = kind_of(definition)
    known, leading = KNOWN.get(kind), LEADING.get(kind, Leading())
    known_places = tuple(places_of(known.places, env)) if known else ()
    apart = {known_places[number] for number in leading.apart if number < len(known_places)}
    places = tuple(place for place in definition.own if place not in apart)
    for place in places:
        if not os.path.lexists(place) and not place.suffix:  # a name with a suffix is a file's
            place.mkdir(mode=0o700, parents=True)
    if leading.place >= len(known_places):
        return Own(tuple(filter(os.path.lexists, places)))
    settings = known_places[leading.place]
    files = {settings / name for name in (*leading.json, *leading.files)} | apart
    for file in (*(settings / name for name in leading.json), *apart):
        _begin(file)
    programs = _programs(places)
    shut = (*files, *(settings / name for name in leading.folders), *programs)
    return Own(tuple(filter(os.path.lexists, places)), shut, frozenset(files))


def _begin(file: Path) -> None:
    """Make a file of settings without any, so that it is there to be shut. One that is empty would be no JSON."""
    with contextlib.suppress(OSError):  # a link, a directory, one of somebody else's: that stays what it is
        made = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            if os.fstat(made).st_size == 0:  # two that begin at once write the same
                os.write(made, EMPTY_SETTINGS.encode())
        finally:
            os.close(made)


def _programs(places: Sequence[Path]) -> Iterator[Path]:
    """Yield the programs that lie at the top of the places: scripts that settings name, and the like."""
    for place in places:
        with contextlib.suppress(OSError), os.scandir(place) as inside:
            yield from (Path(one) for one in inside if one.is_file(follow_symlinks=False) and os.access(one, os.X_OK))


def _refuse_ours(sandbox: Sandbox, definition: AgentDefinition, start: Path, own: Own) -> None:
    """Refuse an agent that would have to see what is hidden of Greenroom's, or to write what is closed."""
    ours = sandbox.protection
    closed = (*ours.hidden, *ours.closed, *ours.files)
    for paths, shut in (((definition.argv[0], start), ours.hidden), (own.places, closed)):
        for path in (Path(os.path.realpath(one)) for one in paths):
            if any(lies_in(path, Path(os.path.realpath(one))) for one in shut):
                raise NotConfined(
                    f"it needs {path}, which lies in a directory of Greenroom's own that no "
                    f"agent can reach; move it elsewhere, and name that place in [agents.{definition.name}]"
                )
