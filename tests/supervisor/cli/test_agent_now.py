"""A conversation with a third-party agent, as `ls`, `status` and `inspect` show it."""

from collections.abc import Iterator

import pytest

from tests.supervisor.agents.acp.scripted import agent_table
from tests.supervisor.cli.place import Place, a_place


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with a_place() as made:
        config = made.home / "config.toml"
        config.write_text(config.read_text(encoding="utf-8") + agent_table("options"), encoding="utf-8")
        made.run("up")
        yield made


@pytest.fixture(scope="module")
def talked(place: Place) -> str:
    conversation = place.new(
        "title The failing test; then say x", "--agent", "scripted", "--sandbox", "danger-full-access"
    )
    place.at_rest(conversation)
    return conversation


def test_inspect_tells_what_the_agent_is_and_what_it_is_set_to_also_after_a_restart(
    place: Place, talked: str
) -> None:
    now = place.json("inspect", talked)["agent_now"]
    assert (now["agent"], now["program"], now["how"]) == ("scripted", "scripted 1.0", "new")
    assert now["session"].startswith("s-")
    assert now["can"] == ["load sessions", "resume sessions", "pictures"]
    assert (now["mode"], now["model"], now["note"]) == ("ask", "small", "")
    assert [(one["id"], one["value"]) for one in now["options"]] == [
        ("mode", "ask"),
        ("model", "small"),
        ("effort", "medium"),
    ]
    named = place.json("inspect", talked)["variables"]  # never a value
    assert {"HOME", "PATH"} <= set(named)
    assert not [one for one in named if "TOKEN" in one or "=" in one]
    place.kill()
    place.run("up")
    assert place.json("inspect", talked)["agent_now"] == now
    assert place.said("inspect", talked, "--format", "{agent_now.program}") == "scripted 1.0"


def test_the_title_that_the_agent_gives_is_what_a_conversation_without_a_name_is_about(
    place: Place, talked: str
) -> None:
    (row,) = [row for row in place.json("ls", "--json") if row["id"] == talked]
    assert (row["preview"], row["agent"], row["model"]) == ("The failing test", "scripted", "small")
    assert "The failing test" in place.said("ls")


def test_status_has_a_line_for_each_thing_that_it_said(place: Place, talked: str) -> None:
    lines = place.said("status", talked).splitlines()
    told = {line[:12].strip(): line[12:] for line in lines}
    assert told["agent"] == "scripted (scripted 1.0)"
    assert told["its session"].endswith(", new")
    assert told["can"] == "load sessions, resume sessions, pictures"
    assert (told["mode"], told["model"]) == ("ask", "small")
    assert told["options"] == "effort=medium"


@pytest.mark.parametrize("words", [("ls",), ("status",), ("agents",)])
def test_no_row_of_a_table_is_broken_by_a_terminal_of_eighty_columns(
    place: Place, talked: str, words: tuple[str, ...]
) -> None:
    terminal = place.terminal(*words, columns=80, rows=100)
    assert terminal.end() == 0
    begins = "scripted" if words == ("agents",) else talked[:8]
    assert len([line for line in terminal.screen.splitlines() if line.startswith(begins)]) == 1
    assert len(terminal.screen.splitlines()) == terminal.written.rstrip().count("\n") + 1


@pytest.mark.parametrize("words", [("agents", "claude"), ("agents", "scripted"), ("status",)])
def test_a_long_description_goes_on_below_its_beginning(place: Place, talked: str, words: tuple[str, ...]) -> None:
    terminal = place.terminal(*words, *([talked] if words == ("status",) else []), columns=50, rows=100)
    terminal.end()
    lines = terminal.screen.splitlines()
    assert len(lines) == terminal.written.rstrip().count("\n") + 1
    assert any(line.startswith(" " * 12) for line in lines)


def test_the_model_and_the_effort_that_are_named_are_those_of_the_agent(place: Place) -> None:
    words = ("--agent", "scripted", "--model", "large", "--effort", "high", "--sandbox", "danger-full-access")
    conversation = place.new("say x", *words)
    place.at_rest(conversation)
    now = place.json("inspect", conversation)["agent_now"]
    assert (now["model"], [one["value"] for one in now["options"]]) == ("large", ["ask", "large", "high"])
    assert place.said("set", conversation, "model=small", "effort=medium").splitlines() == [
        "model: large → small",
        "effort: high → medium",
    ]
    place.run("send", "--wait", conversation, "say y")
    lines = place.said("status", conversation).splitlines()
    assert "model       small" in lines
    place.run("set", conversation, "model=huge")
    refused = place.run("send", "--wait", conversation, "say z", code=None)
    assert refused.returncode != 0
    assert "model = 'huge' is not offered; there is small, large; `greenroom set" in refused.stderr
