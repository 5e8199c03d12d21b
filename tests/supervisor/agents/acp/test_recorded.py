"""Tool calls as real agents told them: each begins once, when it runs, and ends once, with what it did."""

import pytest

from actors.vocabulary import events as ev
from tests.supervisor.agents.acp.recorded import RECORDED, Taken
from tests.support.work import agent_call_of, subject_of

CALLS = [name for name in RECORDED if not name.endswith(("usage", "session", "plan"))]


@pytest.mark.parametrize("name", CALLS)
def test_a_call_begins_once_and_ends_once(name: str) -> None:
    taken = Taken()
    taken.replay(name, allowed="refused" not in name)
    begun, ended = taken.said_of(ev.WorkBegan), taken.said_of(ev.WorkEnded)
    assert len(begun) == len(ended) == (0 if name == "claude command that is refused" else 1)
    assert not taken.updates.open


@pytest.mark.parametrize(
    ("name", "script", "status", "output", "code"),
    [
        ("claude command that fails", "exit 3", "failed", "out-42", 3),
        ("claude command that is cut", "trap", "cancelled", "It may have run in part", None),
        ("claude command in a terminal", "echo in-terminal", "completed", "in-terminal", 0),
        ("codex-acp command", "touch", "completed", "", 0),
        ("codex-acp command that is refused", "touch", "cancelled", "", None),
        ("zed command", "ls /", "completed", "bin\nboot", 0),
        ("zed command that is asked for", "touch", "completed", "", 0),
    ],
)
def test_a_command_is_known_with_what_came_of_it(
    name: str, script: str, status: str, output: str, code: int | None
) -> None:
    taken = Taken()
    taken.replay(name, allowed="refused" not in name)
    (end,) = taken.said_of(ev.WorkEnded)
    assert script in subject_of(end, ev.CommandSubject).command[-1]
    assert (agent_call_of(end).sort if "ls" not in script else "execute", end.status, end.exit_code) == (
        "execute",
        status,
        code,
    )
    assert output in end.output


def test_a_command_of_gemini_is_its_title() -> None:
    taken = Taken()
    taken.replay("gemini command")
    (end,) = taken.said_of(ev.WorkEnded)
    assert (end.kind, end.status, subject_of(end, ev.CommandSubject).command) == ("command", "completed", ())
    assert agent_call_of(end).title


@pytest.mark.parametrize("name", [name for name in CALLS if name.endswith("file")])
def test_a_file_that_is_written_is_a_change(name: str) -> None:
    taken = Taken()
    taken.replay(name)
    (end,) = taken.said_of(ev.WorkEnded)
    ((path, change),) = subject_of(end, ev.FilesSubject).changes.items()
    assert path.endswith("/ws/f.txt")
    assert change == {"add": {"content": "hello-file\n"}}
    assert (agent_call_of(end).sort, end.status) == ("edit", "completed")


@pytest.mark.parametrize("name", [name for name in RECORDED if name.endswith("session")])
def test_the_options_of_an_agent_are_told_with_mode_and_model(name: str) -> None:
    taken = Taken()
    taken.note(taken.updates.initial_news(RECORDED[name][0]["answer"]))
    (told,) = taken.said_of(ev.AgentOptions)
    categories = [one.category for one in told.options]
    assert categories.count("model") == 1
    assert categories.count("mode") == 1
    assert all(one.value and one.choices for one in told.options)
    assert not list(taken.updates.initial_news(RECORDED[name][0]["answer"])), "nothing new is no news"


def test_the_cost_of_claude_is_counted_once_by_prompt() -> None:
    taken = Taken()
    taken.replay("claude usage")
    counts = taken.said_of(ev.TokenCount)
    assert [round(one.cost_usd or 0, 5) for one in counts] == [0.01512, 0.01008]
    first = counts[0]
    assert (first.input_tokens, first.cached_input_tokens, first.output_tokens) == (2400, 400, 100)
    assert (first.context_tokens, first.context_window) == (1250, 1_000_000)
    assert (first.model, first.provider) == ("claude-opus-5-5", "them")


def test_the_tokens_of_other_agents_are_counted_as_far_as_they_say() -> None:
    opencode, zed, gemini = Taken(), Taken(), Taken()
    opencode.replay("opencode usage")
    zed.replay("zed usage")
    gemini.replay("gemini usage")
    assert [(one.total_tokens, one.cost_usd) for one in opencode.said_of(ev.TokenCount)] == [
        (1050, 0.0009),
        (1050, pytest.approx(0.0009)),
    ]
    assert [(one.total_tokens, one.cost_usd, one.context_tokens) for one in zed.said_of(ev.TokenCount)] == [
        (0, None, 1050)
    ]
    assert [one.total_tokens for one in gemini.said_of(ev.TokenCount)] == [2100]


def test_a_plan_is_told_when_it_changes() -> None:
    taken = Taken()
    taken.replay("zed plan")
    taken.replay("zed plan")
    (plan,) = taken.said_of(ev.PlanUpdate)
    assert [(step.step, step.status) for step in plan.plan] == [("one", "in_progress"), ("two", "pending")]
