"""An agent's own home: it keeps sessions there, and what it would be led by later stays as it was, to the byte."""

import json
import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from supervisor.agents.acp.confinement import NotConfined
from supervisor.agents.acp.launching import login_of
from supervisor.work.reach.agent_homes import HOMES, homes_of
from tests.supervisor.agents.acp.confined_agent import Agent, did, refused, write
from tests.supervisor.work.place import Place, on_linux

pytestmark = on_linux

# Names that an agent reads at its start, or starts; the last ones are in no table and no documentation.
LED_BY = {
    "claude": (
        *(".claude/settings.json", ".claude/settings.local.json", ".claude/CLAUDE.md", ".claude/keybindings.json"),
        *(
            ".claude/hooks/deep/er/fmt.sh",
            ".claude/commands/x.md",
            ".claude/agents/x.md",
            ".claude/skills/x/SKILL.md",
        ),
        *(".claude/plugins/installed_plugins.json", ".claude/local/claude", ".claude/remote-settings.json"),
        *(".claude/statusline-command.sh", ".claude/scripts/fmt.sh", ".claude/shell-snapshots/x.sh", ".claude.json"),
        *(".claude/session-env/x/hook-0.sh", ".claude/workflows/x.js", ".claude/anything/at/all", ".claude/new"),
    ),
    "codex": (
        *(".codex/config.toml", ".codex/.env", ".codex/hooks.json", ".codex/AGENTS.md", ".codex/AGENTS.override.md"),
        *(".codex/managed_config.toml", ".codex/requirements.toml", ".codex/rules/default.rules", ".codex/prompts/x"),
        *(".codex/skills/x/SKILL.md", ".codex/plugins/x", ".codex/packages/standalone/codex", ".codex/tmp/arg0/x/ls"),
        *(".codex/shell_snapshots/x.sh", ".codex/trusted_hooks.json", ".codex/memories_1.sqlite", ".codex/new"),
    ),
    "gemini": (
        *(".gemini/settings.json", ".gemini/trustedFolders.json", ".gemini/.env", ".gemini/GEMINI.md"),
        *(".gemini/extensions/x/gemini-extension.json", ".gemini/commands/x.toml", ".gemini/hooks/x", ".gemini/new"),
        *(".gemini/policies/x.toml", ".gemini/history/x/.git/config", ".gemini/tmp/bin/rg", ".gemini/projects.json"),
    ),
    "opencode": (
        *(".config/opencode/opencode.json", ".config/opencode/opencode.jsonc", ".config/opencode/config.json"),
        *(".config/opencode/package.json", ".config/opencode/node_modules/x/index.js", ".config/opencode/new"),
        *(".config/opencode/plugin/x.js", ".config/opencode/tool/x.ts", ".config/opencode/AGENTS.md"),
        *(
            ".local/share/opencode/auth.json",
            ".local/share/opencode/bin/rg",
            ".local/share/opencode/snapshot/x/config",
        ),
        *(".local/share/opencode/opencode.db", ".local/state/opencode/plugin-meta.json", ".cache/opencode/bin/gopls"),
    ),
}
KEPT = {
    "claude": (
        ".claude/projects/p/s.jsonl",
        ".claude/todos/x",
        ".claude/file-history/x",
        ".claude/.credentials.json",
    ),
    "codex": (".codex/sessions/2026/x", ".codex/auth.json", ".codex/log/x", ".codex/greenroom/state_5.sqlite"),
    "gemini": (".gemini/tmp/p/chats/x", ".gemini/oauth_creds.json", ".gemini/google_accounts.json"),
    "opencode": (".local/share/opencode/greenroom/opencode.db", ".local/share/opencode/log/x"),
}


def everything(folder: Path) -> dict[str, object]:
    """All that lies in a folder, to the byte."""
    found: dict[str, object] = {}
    for at, folders, files in os.walk(folder):
        for path in (Path(at, name) for name in (*folders, *files)):
            if path.is_symlink():
                found[str(path)] = f"-> {path.readlink()}"
            elif path.is_file():
                found[str(path)] = (path.read_bytes(), path.stat().st_mode)
    return found


def led_by(agent: Agent) -> dict[str, object]:
    """All that lies in its homes and where their links lead, but for what it keeps."""
    homes = [(home, keeps) for home, keeps in homes_of(agent.name, agent.environment)]
    kept = [home / name for home, keeps in homes for name in (*keeps.folders, *keeps.files, *keeps.empty_files)]
    shut = [home / name for home, keeps in homes for name in keeps.memory]
    found = {name: one for home, _ in homes for name, one in everything(home).items()}
    found |= {str(home): home.read_bytes() for home, _ in homes if home.is_file()}
    found = {
        name: one
        for name, one in found.items()
        if any(Path(name).is_relative_to(path) for path in shut)
        or not any(Path(name).is_relative_to(path) for path in kept)
    }
    linked = everything(agent.place.outside / "dotfiles").items()  # it may be the workspace, where others can be made
    return {name: one for name, one in (*found.items(), *linked) if one != b"{}\n" and not name.endswith(".new")}


def attacks(file: Path, top: Path) -> Iterator[str]:
    """The ways to have something else at a name: written, replaced, renamed, removed, its parents moved away."""
    name, new = repr(str(file)), repr(f"{file}.new")
    yield write(file, "evil")
    yield f"os.chmod({name}, 0o777)"
    yield f"(Path({new}).write_text('evil'), os.rename({new}, {name}))"
    yield f"(os.rename({name}, {new}), Path({name}).write_text('evil'))"
    yield f"(os.unlink({name}), os.symlink('/etc/passwd', {name}))"
    yield f"(os.unlink({name}), Path({name}).write_text('evil'))"
    yield f"os.truncate({name}, 0)"
    yield f"os.link({name}, {new})"
    for folder in (one for one in file.parents if one != top and one.is_relative_to(top)):
        moved = repr(f"{folder}.moved")
        yield f"(os.rename({str(folder)!r}, {moved}), Path({str(file.parent)!r}).mkdir(parents=True))"
        yield f"shutil.rmtree({str(folder)!r})"
    yield f"(Path({str(file.parent)!r}).mkdir(parents=True), Path({name}).write_text('evil'))"


def lay_out(agent: Agent, how: str) -> None:
    """Make its home: with each setting there, as a link into dotfiles (the top of it), or without any."""
    dotfiles = agent.place.outside / "dotfiles"
    dotfiles.mkdir()
    for name in (*LED_BY[agent.name], *KEPT[agent.name]):
        file = agent.home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if how != "missing" or name in KEPT[agent.name]:
            file.write_text("{}")
    kept = [agent.home / name for name in KEPT[agent.name]]
    if how == "linked":
        for home, _ in homes_of(agent.name, agent.environment):
            for one in [home] if home.is_file() else list(home.iterdir()):
                if not any(file.is_relative_to(one) for file in kept):
                    target = dotfiles / str(one.relative_to(agent.home)).replace("/", "_")
                    one.rename(target)
                    one.symlink_to(target)


@pytest.mark.parametrize(
    ("name", "how", "where"),
    [
        *product(HOMES, ("there", "linked", "missing"), ("project", "home")),
        *product(HOMES, ("linked",), ("dotfiles",)),
    ],
)
def test_settings_of_an_agent_started_by_hand_stay_byte_for_byte_and_its_state_is_written(
    place: Place, name: str, how: str, where: str
) -> None:
    """It would be obeyed when the person starts the same agent by hand. A second life changes nothing either."""
    agent = Agent(place, name=name)
    lay_out(agent, how)
    agent.cwd = {"project": place.workspace, "home": agent.home, "dotfiles": place.outside / "dotfiles"}[where]
    if (name, how, where) == ("claude", "linked", "home"):
        with pytest.raises(NotConfined, match="which it could replace"), agent.confined():
            pass
        return
    before = led_by(agent)
    tops = [home if home.is_dir() else agent.home for home, _ in homes_of(name, agent.environment)]
    files = [agent.home / one for one in LED_BY[name]]
    tries = [one for file in files for top in tops if file.is_relative_to(top) for one in attacks(file, top)]
    tries += [one for file in everything(place.outside / "dotfiles") for one in attacks(Path(file), place.outside)]
    keeps = [write(agent.home / file, "kept") for file in KEPT[name]]
    for _ in range(2):
        did(agent, *tries, *keeps)
        assert led_by(agent) == before
        assert [(agent.home / file).read_text() for file in KEPT[name]] == ["kept"] * len(KEPT[name])


# What such an agent has left there when its person started it by hand, and opens for writing at each start.
STATE = ("device_id", ".tmp/sync.lock", "cache/models.bin", "state/deep/one.lock")


@pytest.mark.parametrize("name", HOMES)
def test_state_of_an_agent_that_was_started_by_hand_can_be_changed_in_there_and_stays_what_it_was(
    place: Place, name: str
) -> None:
    """Otherwise no agent that somebody uses by hand would start."""
    agent = Agent(place, name=name)
    homes = [home for home, _ in homes_of(name, agent.environment) if not home.suffix]
    there = [home / file for home in homes for file in STATE]
    for file in there:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("of its person")
    fresh = [home / one / "x/new" for home, keeps in homes_of(name, agent.environment) for one in keeps.empty_folders]
    beside = [file.with_name(f"new-{file.name}") for file in there]
    said = did(agent, *(write(file, "changed") for file in (*there, *beside, *fresh)))
    assert [one for one in said if refused(one)] == []
    assert {file.read_text() for file in there} == {"of its person"}
    assert [file for file in (*beside, *fresh) if file.exists()] == []


def test_of_much_state_a_part_can_be_changed_and_the_agent_starts(place: Place) -> None:
    """All of it would be more than the memory that a home in a sandbox has."""
    agent = Agent(place, name="codex")
    ((home, _),) = homes_of("codex", agent.environment)
    home.mkdir(parents=True)
    files = [home / f"state_{number:02}.bin" for number in range(80)]
    for file in files:
        file.touch()
        os.truncate(file, 4 << 20)
    said = did(agent, *(f"open({str(file)!r}, 'r+b').write(b'x')" for file in files))
    assert [refused(one) for one in said] == [number >= 8 for number in range(80)]


def test_a_file_of_json_that_is_missing_is_no_empty_one_in_there(place: Place) -> None:
    """Claude Code takes an empty one for a broken one, and does not start."""
    agent = Agent(place)
    agent.cwd = agent.home
    (read,) = did(agent, f"Path({str(agent.home / '.claude.json')!r}).read_text()")
    assert read == repr("{}\n")


def test_a_file_of_json_that_is_empty_is_none_in_there(place: Place) -> None:
    """By hand Claude Code mends it; where it may not write it does not start."""
    agent = Agent(place)
    (agent.home / ".claude.json").touch()
    (read,) = did(agent, f"Path({str(agent.home / '.claude.json')!r}).read_text()")
    assert read == repr("{}\n")


def test_a_file_of_settings_that_the_agent_has_written_stays_what_it_was(place: Place) -> None:
    agent = Agent(place)
    mine = '{"numStartups": 7}'
    (agent.home / ".claude.json").write_text(mine)
    (read,) = did(agent, f"Path({str(agent.home / '.claude.json')!r}).read_text()")
    assert read == repr(mine)
    assert (agent.home / ".claude.json").read_text() == mine


def test_nothing_is_left_in_its_directories_but_what_it_keeps(place: Place) -> None:
    agent = Agent(place)
    did(agent, "1")
    home = HOMES["claude"][0]
    assert {one.name for one in (agent.home / ".claude").iterdir()} == {*home.folders, *home.empty_files}
    assert not (place.workspace / ".git").exists()


def test_an_agent_whose_home_is_a_link_that_it_could_replace_is_not_started(place: Place) -> None:
    """In a workspace that is the home, any command can put a link there, or another link in its place."""
    agent = Agent(place)
    agent.cwd, target = agent.home, place.outside / "precious"
    target.mkdir()
    (agent.home / ".claude").symlink_to(target)
    with pytest.raises(NotConfined, match=r"is reached by the link .* work in a folder below"), agent.confined():
        pass
    assert not list(target.iterdir())


@pytest.mark.parametrize("inside", ["", "skills/mine"])
def test_an_agent_is_not_started_to_work_on_its_own_settings(place: Place, inside: str) -> None:
    agent = Agent(place)
    agent.cwd = agent.home / ".claude" / inside
    agent.cwd.mkdir(parents=True)
    with pytest.raises(NotConfined, match="where its own settings are"), agent.confined():
        pass


def test_a_home_may_be_a_link_of_the_persons(place: Place) -> None:
    agent = Agent(place)
    target = place.outside / "dotfiles"
    target.mkdir()
    (agent.home / ".claude").symlink_to(target)
    (target / "settings.json").write_text("mine")
    did(
        agent,
        write(agent.home / ".claude/projects/p/s"),
        write(agent.home / ".claude/settings.json"),
        write(target / "settings.json"),
        write(target / "hooks/x"),
    )
    assert (target / "projects/p/s").exists()
    assert (target / "settings.json").read_text() == "mine"
    assert not (target / "hooks").exists()


def test_a_folder_of_sessions_may_be_a_link_of_the_persons(place: Place) -> None:
    agent = Agent(place)
    elsewhere = place.outside / "disk" / "sessions"
    elsewhere.mkdir(parents=True)
    (agent.home / ".codex").mkdir()
    (agent.home / ".codex/sessions").symlink_to(elsewhere)
    agent.name = "codex"
    did(agent, write(agent.home / ".codex/sessions/s"), write(elsewhere.parent / "beside"))
    assert (elsewhere / "s").exists()
    assert not (elsewhere.parent / "beside").exists()


def test_a_script_that_settings_name_is_shut_wherever_it_lies(place: Place) -> None:
    """In a folder that the agent keeps, and in the workspace; as is the way to it."""
    agent = Agent(place)
    inside, project = agent.home / ".claude/projects/deep/er/line.sh", place.workspace / "tools/fmt.sh"
    for file in (inside, project):
        file.parent.mkdir(parents=True)
        file.write_text("mine")
    (agent.home / ".claude/settings.json").write_text(
        json.dumps(
            {"statusLine": {"command": f"bash ~/{inside.relative_to(agent.home)} -x"}, "hooks": {"a": [str(project)]}}
        )
    )
    tries = [one for file in (inside, project) for one in attacks(file, place.outside)]
    did(agent, *tries, write(inside.parent / "session"))
    assert (inside.read_text(), project.read_text()) == ("mine", "mine")
    assert (inside.parent / "session").exists()


def test_a_place_of_an_agent_that_no_table_knows_is_open_but_for_settings_and_programs(place: Place) -> None:
    own = place.outside / "vibe"
    closed = ("config.toml", ".env", "plugins/x", "deep/er/run.sh", "bin/tool", "mcp.json", "AGENTS.md", "x/program")
    for name in closed:
        (own / name).parent.mkdir(parents=True, exist_ok=True)
        (own / name).write_text("mine")
    (own / "x/program").chmod(0o755)
    agent = Agent(place, name="mine", own=(own,))
    did(
        agent,
        *(one for name in closed for one in attacks(own / name, own)),
        write(own / "hooks/new"),
        write(own / "sessions/one.json"),
    )
    assert {name: (own / name).read_text() for name in closed} == dict.fromkeys(closed, "mine")
    assert not (own / "hooks").exists()
    assert (own / "sessions/one.json").exists()


def test_a_login_that_was_made_by_hand_meanwhile_is_another_one(place: Place) -> None:
    agent = Agent(place)

    def made() -> str:
        return login_of(agent.settings, agent.definition, agent.environment)

    did(agent, "1")
    none = made()
    (agent.home / ".claude/.credentials.json").write_text("one")
    one = made()
    did(agent, write(agent.home / ".claude/.credentials.json", "by itself"))
    assert made() == one != none
    (agent.home / "new").write_text("by hand")
    (agent.home / "new").rename(agent.home / ".claude/.credentials.json")
    assert made() != one
