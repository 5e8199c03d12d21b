"""An agent's own directories: it keeps sessions there, and what it would be led by later stays as it was."""

import pytest

from tests.supervisor.agent.acp.confined_agent import Agent, did, refused, write
from tests.supervisor.agent.place import Place, on_linux

pytestmark = on_linux


@pytest.mark.parametrize(
    ("name", "settings", "session"),
    [
        ("claude", ".claude/settings.json", ".claude/projects/x"),
        ("claude", ".claude/hooks/evil", ".claude/todos/x"),
        ("claude", ".claude/commands/evil.md", ".claude/x"),
        ("claude", ".claude.json", ".claude/.credentials.json"),
        ("codex", ".codex/config.toml", ".codex/auth.json"),
        ("codex", ".codex/AGENTS.md", ".codex/sessions/2026/x"),
        ("codex", ".codex/rules/default.rules", ".codex/log/x"),
        ("gemini", ".gemini/settings.json", ".gemini/tmp/x"),
        ("gemini", ".gemini/extensions/evil/x.json", ".gemini/oauth_creds.json"),
        ("opencode", ".config/opencode/opencode.json", ".local/share/opencode/x"),
        ("opencode", ".config/opencode/plugin/evil.js", ".local/state/opencode/x"),
    ],
)
def test_settings_hooks_and_instructions_stay_what_they_were_and_sessions_are_written(
    place: Place, name: str, settings: str, session: str
) -> None:
    """It would be obeyed when the person starts the same agent by hand."""
    agent = Agent(place, name=name)
    led, kept, moved = did(
        agent,
        write(agent.home / settings, "evil"),
        write(agent.home / session),
        f"os.rename({str(agent.home / settings)!r}, {str(agent.home / session) + '2'!r})",
    )
    assert "Error" in led
    assert "Error" in moved
    assert (agent.home / session).read_text() == "x", kept
    file = agent.home / settings
    assert not file.exists() or file.read_text() == "{}\n"


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


def test_a_script_that_settings_name_can_not_be_changed(place: Place) -> None:
    agent = Agent(place)
    script = agent.home / ".claude/statusline.sh"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert refused(did(agent, write(script, "evil"))[0])
    assert script.read_text() == "#!/bin/sh\n"


def test_nothing_is_left_in_its_directories_but_settings_that_are_empty(place: Place) -> None:
    agent = Agent(place)
    did(agent, "1")
    (left,) = (agent.home / ".claude").iterdir()
    assert (left.name, left.read_text()) == ("settings.json", "{}\n")
    assert not (place.workspace / ".git").exists()


def test_a_directory_of_its_own_that_a_command_made_a_link_is_not_followed(place: Place) -> None:
    """In a workspace that is the home, any command can put a link there."""
    agent = Agent(place)
    agent.cwd, target = agent.home, place.outside / "precious"
    target.mkdir()
    (agent.home / ".claude").symlink_to(target)
    with agent.confined() as inside:
        assert "is not writable for the agent: it is reached by a link" in " ".join(inside.notices)
    assert refused(did(agent, write(target / "evil"))[0])


def test_a_directory_of_its_own_may_be_a_link_of_the_persons(place: Place) -> None:
    agent = Agent(place)
    target = place.outside / "dotfiles"
    target.mkdir()
    (agent.home / ".claude").symlink_to(target)
    did(agent, write(agent.home / ".claude/history"), write(agent.home / ".claude/settings.json"))
    assert (target / "history").exists()
    assert (target / "settings.json").read_text() == "{}\n"
