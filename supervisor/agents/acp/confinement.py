"""The sandbox round a third-party agent's process, for as long as it lives. Blocking: worker threads.

Decides where the agent may write: in the directories of the conversation's policy, and in places of its own; and
which arguments and variables it is started with. An agent's own sandbox is off, because ours is round it. Starts
nothing, and knows nothing of the wire.
"""

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from actors.vocabulary.settings import ApprovalPolicy, DangerFullAccess, Pin, Settings, WorkspaceWrite
from supervisor.agents.acp.git_desk import make_desk
from supervisor.config.agent_definitions import AgentDefinition, kind_named
from supervisor.config.command_environment import Keys, agent_environment
from supervisor.config.whole_config import Config
from supervisor.disk.folders import lies_in, open_folder
from supervisor.disk.search_paths import drop_writable_entries, writable_entries_last, writable_folders
from supervisor.work.reach.agent_homes import databases_of, homes_of
from supervisor.work.reach.home_views import OwnPlaces, own_homes
from supervisor.work.sandbox.order import ConfinedCommand
from supervisor.work.sandbox.sandbox import Sandbox

WITHOUT_SANDBOX = (
    "`--sandbox danger-full-access` runs it without one, then its own questions are all that protects you"
)
# Codex's approval policies. `untrusted` asks before everything that does more than read. `on-request` asks before
# leaving Codex's own sandbox, and without one never. Only one of the two adapters still takes it from the arguments.
ASK_POLICY, NEVER_ASK_POLICY = "untrusted", "never"
# A file that an agent makes at its start in its folder of the project, if that exists. In a folder that is closed to
# it, it can't, and does not start; so the file is made before.
MADE_AT_START: Mapping[str, tuple[str, str, str]] = {
    "opencode": (".opencode", ".gitignore", "node_modules\npackage.json\npackage-lock.json\nbun.lock\n.gitignore"),
}
_VARIABLES: Mapping[str, Mapping[str, str]] = {
    "claude": {"IS_SANDBOX": "1"},  # as root it would refuse to ask nothing, which is safe in here
    "gemini": {"GEMINI_SANDBOX": "false"},  # otherwise it may start itself again in a container
}


def kind_of(definition: AgentDefinition) -> str:
    """Return the name of the known agent that a definition starts; empty for an unknown one."""
    return kind_named(definition.name, definition.argv)


class SandboxAdditions(Struct, frozen=True):
    """Arguments and variables that an agent in the sandbox is started with, besides its own."""

    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)


def sandbox_additions(agent: str, approvals: ApprovalPolicy) -> SandboxAdditions:
    """Return the additions for an agent in our sandbox. A person's own settings for it come later, and win."""
    if agent == "codex":
        asks = NEVER_ASK_POLICY if approvals is ApprovalPolicy.NEVER else ASK_POLICY
        return SandboxAdditions(
            ("-c", 'sandbox_mode="danger-full-access"', "-c", f'approval_policy="{asks}"'),
            {"INITIAL_AGENT_MODE": "agent-full-access"},  # for the adapter that reads no arguments
        )
    return SandboxAdditions(env=_VARIABLES.get(agent, {}))


def keeps_its_mode(agent: str) -> bool:
    """Tell whether an agent in our sandbox must stay in the mode that it was started with.

    In other modes Codex puts each command into bubblewrap, which needs a user namespace. Our sandbox gives none, so
    each would fail.
    """
    return agent == "codex"


class NotConfined(OSError):
    """The agent must not be started. The text says why, and how to change that."""


def is_confined(settings: Settings, definition: AgentDefinition) -> bool:
    """Tell whether our sandbox is round the agent. If so its own sandbox is off, as it would only get in the way."""
    return not isinstance(settings.sandbox, DangerFullAccess) and definition.confine != "none"


def variables_of(
    definition: AgentDefinition, settings: Settings, config: Config, env: Mapping[str, str]
) -> Mapping[str, str]:
    """Return the agent's variables. In a sandbox the project's folders are last in its search path; else left out."""
    given = agent_environment(
        env, config.shell_environment_policy, Keys.from_config(config, env), definition.variables
    )
    writable = writable_folders(settings.sandbox, settings.cwd, env)
    return (writable_entries_last if is_confined(settings, definition) else drop_writable_entries)(given, writable)


@contextlib.contextmanager
def confine_agent(
    sandbox: Sandbox,
    settings: Settings,
    definition: AgentDefinition,
    env: Mapping[str, str],
    pins: Sequence[Pin],
    desk: Path | None = None,
) -> Iterator[ConfinedCommand]:
    """Yield the confined command that starts the agent; the context lasts until the agent ends. Raises NotConfined.

    `desk`: the folder to make for the agent's git, see git_desk.py. `env` is the conversation's, and `pins` are its
    roots as they were at its start.
    """
    start, given = definition.cwd or settings.cwd, {**env, **definition.env}
    if not is_confined(settings, definition):
        yield ConfinedCommand(definition.argv, start, given)
        return
    if not sandbox.availability.ok:
        found = sandbox.availability
        raise NotConfined(f"nothing confines it here: {found.reason}; {found.how_to_get}, or {WITHOUT_SANDBOX}")
    kind, given = kind_of(definition), {**env, **definition.env}
    added = sandbox_additions(kind, settings.approval_policy)
    argv, given = (*definition.argv, *added.args), {**env, **databases_of(kind, given), **added.env, **definition.env}
    _refuse_open_homes([home for home, _ in homes_of(kind, given)], pins)
    own = own_homes(kind, definition.own, given)
    _refuse_ours(sandbox, definition, start, own)
    if isinstance(settings.sandbox, WorkspaceWrite) and (file := MADE_AT_START.get(kind)) is not None:
        _make_before(start, *file)
    writable = [pin.path for pin in pins if pin.path is not None]
    placed = make_desk(desk, given, (*writable, *own.kept_paths)) if desk is not None else ()
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


def _make_before(project: Path, folder: str, name: str, text: str) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with contextlib.suppress(OSError):  # there is no such folder, it is a link, or the file exists
        inside = open_folder(Path(os.path.realpath(project), folder))
        try:
            made = os.open(name, flags, 0o644, dir_fd=inside)
        finally:
            os.close(inside)
        with os.fdopen(made, "w") as file:
            file.write(text)


def _refuse_open_homes(homes: Sequence[Path], pins: Sequence[Pin]) -> None:
    """Refuse an agent whose home can't be closed to it: a workspace lies in it, or holds a link that leads there."""
    for home, root in ((home, pin.path) for home in homes for pin in pins if pin.path is not None):
        if lies_in(root, Path(os.path.realpath(home))):
            raise NotConfined(
                f"{root} lies in {home}, where its own settings are, and it must not change those; work elsewhere, "
                f"or {WITHOUT_SANDBOX}"
            )
        for link in (folder for folder in (home, *home.parents) if folder.is_symlink()):
            if lies_in(Path(os.path.realpath(link.parent)), root):
                raise NotConfined(
                    f"its own {home} is reached by the link {link}, which it could replace, as {root} is open to it; "
                    f"work in a folder below, or {WITHOUT_SANDBOX}"
                )


def _refuse_ours(sandbox: Sandbox, definition: AgentDefinition, start: Path, own: OwnPlaces) -> None:
    """Refuse an agent that needs to see Greenroom's hidden directories, or to write into closed ones."""
    ours = sandbox.protection
    closed = (*ours.hidden, *ours.closed, *ours.files)
    for paths, shut in (
        ((definition.argv[0], start), ours.hidden),
        ((*own.places, *(view.path for view in own.views)), closed),
    ):
        for path in (Path(os.path.realpath(needed)) for needed in paths):
            if any(lies_in(path, Path(os.path.realpath(folder))) for folder in shut):
                raise NotConfined(
                    f"it needs {path}, which lies in a directory of Greenroom's own that no "
                    f"agent can reach; move it elsewhere, and name that place in [agents.{definition.name}]"
                )
