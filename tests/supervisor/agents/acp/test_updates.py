"""Updates of an agent's session as events: words by item, tools by call, bounded whatever comes."""

import time
from typing import Any

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ItemId
from supervisor.agents.acp.tool_uses import BEGINS_AFTER_S, ShownTerminal
from supervisor.config.bounds import Bounds
from tests.supervisor.agents.acp.recorded import Taken, call, chunk, more, written
from tests.support.work import subject_of

# --- words --------------------------------------------------------------------------------------------------------


def test_words_are_one_message_until_something_else_begins() -> None:
    taken = Taken()
    taken.hear(chunk("a"), chunk("b"), chunk("hm", kind="agent_thought_chunk"), chunk("c"), call(status="pending"))
    assert taken.types() == [
        "agent_message_delta",
        "agent_message_delta",
        "agent_message",
        "agent_reasoning_delta",
        "agent_reasoning",
        "agent_message_delta",
        "agent_message",
    ]
    assert [one.message for one in taken.said_of(ev.AgentMessage)] == ["ab", "c"]


def test_messages_with_ids_are_told_apart() -> None:
    taken = Taken()
    taken.hear(chunk("a", "1"), chunk("b", "2"))
    taken.note(taken.updates.finish())
    assert [one.message for one in taken.said_of(ev.AgentMessage)] == ["a", "b"]
    assert taken.updates.last_message == "b"


def test_the_echo_of_our_prompt_is_no_message_and_that_of_others_is() -> None:
    taken = Taken()
    taken.hear(chunk("ours", kind="user_message_chunk"))
    taken.updates.prompted = False
    taken.hear(chunk("theirs", kind="user_message_chunk"), chunk("a"))
    assert [one.message for one in taken.said_of(ev.UserMessage)] == ["theirs"]


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ({"type": "image", "mimeType": "image/png", "data": "AAAA"}, "[image image/png, 3 bytes]"),
        ({"type": "resource_link", "uri": "file:///x", "name": "x"}, "[x](file:///x)"),
        ({"type": "resource", "resource": {"uri": "file:///x", "text": "hello"}}, "[file:///x]\nhello\n"),
    ],
)
def test_content_that_is_no_text_is_named(block: dict[str, Any], words: str) -> None:
    taken = Taken()
    taken.hear({"sessionUpdate": "agent_message_chunk", "content": block})
    assert taken.said_of(ev.AgentMessageDelta)[0].delta == words


def test_a_message_without_end_is_cut_and_counted() -> None:
    taken = Taken(bounds=Bounds(event_bytes=65_536))
    for _ in range(20):
        taken.hear(chunk("x" * 1_000))
    taken.note(taken.updates.finish())
    (message,) = taken.said_of(ev.AgentMessage)
    assert message.message == "x" * 16_384 + "\n[… 3,616 more characters were left out …]"
    assert sum(len(one.delta) for one in taken.said_of(ev.AgentMessageDelta)) == 16_384


# --- tools --------------------------------------------------------------------------------------------------------


def test_a_call_that_only_waits_does_not_run() -> None:
    taken = Taken()
    taken.hear(call(status="pending", title="rm x", kind="execute", rawInput={"command": "rm x"}))
    use = taken.updates.permission({"toolCallId": "c"})
    taken.clock.now += 2 * BEGINS_AFTER_S
    taken.note(taken.updates.tick())
    assert (use.title, use.command) == ("rm x", ("bash", "-c", "rm x"))
    assert not taken.events
    taken.note(taken.updates.allow("c"))
    assert taken.types() == ["work_began"]


def test_a_call_that_was_refused_says_nothing_more() -> None:
    taken = Taken()
    taken.hear(call(status="pending"))
    taken.updates.permission({"toolCallId": "c"})
    taken.note(taken.updates.refuse("c"))
    taken.hear(more(status="failed", content=written("no")))
    assert not taken.events


def test_a_call_of_an_agent_that_never_says_so_runs_after_a_while() -> None:
    taken = Taken()
    taken.hear(call(status="pending"), more(rawInput={"command": "sleep 9"}))
    assert not list(taken.updates.tick())
    taken.clock.now += BEGINS_AFTER_S
    taken.note(taken.updates.tick())
    assert [subject_of(one, ev.CommandSubject).command[-1] for one in taken.said_of(ev.WorkBegan)] == ["sleep 9"]
    assert [one.call_id for one in taken.updates.open] == ["c"]


def test_an_end_that_is_told_twice_is_one() -> None:
    taken = Taken()
    taken.hear(call(status="in_progress"), more(status="completed"), more(status="failed"))
    assert [one.status for one in taken.said_of(ev.WorkEnded)] == ["completed"]


def test_an_update_without_a_beginning_is_a_call() -> None:
    taken = Taken()
    taken.hear(more("new", status="completed", title="looked"))
    assert taken.types() == ["work_began", "work_ended"]


def test_a_whole_output_that_comes_again_costs_what_is_new() -> None:
    taken = Taken(bounds=Bounds(command_output_bytes=64_000))
    taken.hear(call(status="in_progress", kind="execute", rawInput={"command": ["make"]}))
    line = "0123456789" * 10 + "\n"
    for lines in range(1, 1_000):
        taken.hear(more(content=written("```sh\n" + line * lines + "```\n")))
    told = sum(len(one.chunk) for one in taken.said_of(ev.WorkOutput))
    taken.hear(more(status="completed"))
    (end,) = taken.said_of(ev.WorkEnded)
    assert told <= 1_000 * len(line)
    assert len(end.output) < 130_000
    assert "characters left out" in end.output


def test_an_output_that_loses_its_beginning_costs_what_is_new() -> None:
    taken = Taken()
    taken.hear(call(status="in_progress"))
    whole = "".join(f"line {number}\n" for number in range(500))
    for end in range(1_000, len(whole), 100):
        taken.hear(more(content=written(whole[end - 1_000 : end])))
    assert sum(len(one.chunk) for one in taken.said_of(ev.WorkOutput)) <= len(whole)


def test_an_output_that_is_another_each_time_is_told_within_its_bound() -> None:
    taken = Taken(bounds=Bounds(command_output_bytes=10_000))
    taken.hear(call(status="in_progress"))
    for number in range(100):
        taken.hear(more(content=written(f"{number} " * 500)))
    taken.hear(more(status="completed"))
    assert sum(len(one.chunk) for one in taken.said_of(ev.WorkOutput)) <= 10_000
    assert taken.said_of(ev.WorkEnded)[0].output.startswith("99 99")


def test_output_of_a_released_terminal_before_its_call_is_output_of_the_call() -> None:
    written = {"t": ShownTerminal("ok\n", None)}
    taken = Taken(terminals=written.get)
    taken.hear(call(status="in_progress", content=[{"type": "terminal", "terminalId": "t"}]))
    written.clear()
    taken.hear(call(sessionUpdate="tool_call_update", status="completed"))
    assert [one.chunk for one in taken.said_of(ev.WorkOutput)] == [b"ok\n"]
    assert [one.output for one in taken.said_of(ev.WorkEnded)] == ["ok\n"]


def test_a_terminal_of_ours_is_the_output_of_the_call_that_shows_it() -> None:
    written = [ShownTerminal("", None), ShownTerminal("ok\n", 0)]
    taken = Taken(terminals=lambda _: written[0])
    taken.hear(call(status="in_progress", content=[{"type": "terminal", "terminalId": "t"}]))
    del written[0]
    taken.note(taken.updates.terminal_wrote("t", "ok\n"))
    taken.hear(more(status="completed"))
    assert [one.chunk for one in taken.said_of(ev.WorkOutput)] == [b"ok\n"]
    assert [(one.output, one.exit_code) for one in taken.said_of(ev.WorkEnded)] == [("ok\n", 0)]


def test_an_edit_is_shown_as_its_difference() -> None:
    taken = Taken()
    diff = {"type": "diff", "path": "a.py", "oldText": "one\ntwo\n", "newText": "one\n2\n"}
    taken.hear(call(status="completed", kind="edit", content=[diff]))
    update = ev.UpdatedFile(unified_diff="@@ -1,2 +1,2 @@\n one\n-two\n+2\n")
    (end,) = taken.said_of(ev.WorkEnded)
    assert end.subject == ev.FilesSubject(changes={"/home/ann/a.py": {"update": update}})


def test_a_difference_of_two_enormous_texts_takes_no_time() -> None:
    taken = Taken()
    old, new = ("".join(f"{number % 7} {word}\n" for number in range(30_000)) for word in ("a", "b"))
    began = time.process_time()
    taken.hear(call(status="completed", content=[{"type": "diff", "path": "/x", "oldText": old, "newText": new}]))
    assert time.process_time() - began < 4.0


def test_a_flood_of_calls_is_bounded() -> None:
    taken = Taken()
    taken.hear(*(call(str(number), status="in_progress") for number in range(1_000)))
    assert len(taken.updates.open) < 200


def test_calls_that_another_turn_left_open_are_over() -> None:
    taken = Taken()
    taken.hear(call(status="in_progress"))
    taken.updates.begin_turn(lambda: ItemId("next"))
    assert not taken.updates.open
    assert not taken.updates.is_work(more(status="completed"))
    assert not taken.hear(more(status="completed"))


def test_a_terminal_that_nobody_has_is_shown_by_what_the_agent_says_was_in_it() -> None:
    """Codex shows terminals of its own, also to clients that never offered any."""
    taken = Taken()
    taken.hear(call(status="in_progress", title="make", content=[{"type": "terminal", "terminalId": "x"}]))
    taken.hear(call(sessionUpdate="tool_call_update", _meta={"terminal_output_delta": {"data": "built\n"}}))
    taken.hear(call(sessionUpdate="tool_call_update", status="completed"))
    assert taken.types() == ["work_began", "work_output", "work_ended"]
    ended = taken.events[-1]
    assert isinstance(ended, ev.WorkEnded)
    assert ended.output == "built\n"


# --- what an agent can do -----------------------------------------------------------------------------------------


def offered(count: int) -> dict[str, Any]:
    commands = [{"name": f"command-{number}", "description": "does " * 1_000} for number in range(count)]
    return {"sessionUpdate": "available_commands_update", "availableCommands": commands}


def test_commands_that_are_told_again_and_again_are_told_once() -> None:
    taken = Taken()
    for _ in range(5):
        taken.hear(offered(45))
    assert len(taken.said_of(ev.AgentCommands)) == 1
    taken.hear(offered(44))
    assert len(taken.said_of(ev.AgentCommands)) == 2


def test_a_list_of_commands_without_end_fits_into_an_event() -> None:
    taken = Taken()
    taken.hear(offered(10_000))
    (told,) = taken.said_of(ev.AgentCommands)
    assert len(told.model_dump_json()) < Bounds().event_bytes
