"""Sessions: made, listed, loaded, resumed, taken up again, forked, deleted, closed."""

from typing import Any

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.errors import ConfigError
from actors.vocabulary.ids import ConversationId, ItemId
from tests.support.work import command_began, command_ended
from tests.transports.dialects.acp.peer import Editor, Json, daemon
from tests.transports.dialects.mcp.daemon import Daemon
from transports import supervisor_requests as ask
from transports.supervisor_answers import SettingsMade

UNKNOWN = "6f1b1a0e-0000-4000-8000-000000000000"


def turn(house: Daemon, editor: Editor, session: str, said: str, answer: str) -> None:
    editor.prompt(session, said)
    one = ConversationId(session)
    house.say(one, ev.AgentMessage(message=answer, item_id=ItemId(f"m-{answer}")))
    house.finish(one, answer)
    house.settle()


def history(house: Daemon, turns: int = 2) -> str:
    editor = Editor(house, "writer", info="writer")
    session = editor.new()
    for number in range(1, turns + 1):
        turn(house, editor, session, f"say {number}", f"answer {number}")
    return session


def words(editor: Editor) -> list[tuple[str, str]]:
    kinds = {"user_message_chunk": "user", "agent_message_chunk": "agent"}
    told = [one for one in editor.updates() if one["sessionUpdate"] in kinds]
    return [(kinds[one["sessionUpdate"]], one["content"]["text"]) for one in told]


SAID = [("user", "say 1"), ("agent", "answer 1"), ("user", "say 2"), ("agent", "answer 2")]


# --- made -----------------------------------------------------------------------------------------------------------


def test_a_new_session_has_its_options_and_modes() -> None:
    house = daemon()
    result = Editor(house).result("session/new", cwd="/w/here", mcpServers=[])
    options = {one["id"]: one for one in result["configOptions"]}
    assert [(one["id"], one.get("category")) for one in result["configOptions"]] == [
        *(("mode", "mode"), ("model", "model"), ("thought_level", "thought_level")),
        *(("agent", None), ("approval", None), ("sandbox", None)),
    ]
    assert [one["value"] for one in options["model"]["options"]] == ["mock-model", "gpt-5", "gpt-5-mini"]
    assert [one["value"] for one in options["agent"]["options"]] == ["greenroom", "claude"]
    assert [one["id"] for one in result["modes"]["availableModes"]] == ["read-only", "ask", "auto"]
    assert result["modes"]["currentModeId"] == options["mode"]["currentValue"] == "read-only"


def test_the_servers_of_a_client_are_given_before_the_session_is_made() -> None:
    house = daemon()
    servers = [
        {"name": "files", "command": "/bin/files", "args": ["-v"], "env": [{"name": "A", "value": "b"}]},
        {"type": "http", "name": "web", "url": "https://h/x", "headers": [{"name": "K", "value": "v"}]},
    ]
    session = Editor(house).new(mcpServers=servers)
    (given,) = [one for one in house.asked if isinstance(one, ask.GiveServers)]
    assert given == ask.GiveServers(
        ConversationId(session),
        (
            ask.GivenServer("files", ("/bin/files", "-v"), {"A": "b"}),
            ask.GivenServer("web", (), {}, "https://h/x", {"K": "v"}, "http"),
        ),
    )


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({}, "cwd: Field required"),
        ({"cwd": "here"}, "cwd: 'here' is not an absolute path"),
        ({"cwd": "/w", "mcpServers": [{"name": "a"}]}, "mcpServers: mcpServers: 'a' has no command"),
        ({"cwd": "/w", "mcpServers": [{"name": "a", "type": "http", "url": "x"}]}, "no address"),
        ({"cwd": "/w", "mcpServers": [{"name": "a", "command": "x"}, {"name": "a", "command": "y"}]}, "two servers"),
        ({"cwd": "/w", "mcpServers": "none"}, "mcpServers"),
    ],
)
def test_wrong_params_are_refused_by_name(params: Json, told: str) -> None:
    error = Editor(daemon()).error("session/new", **params)
    assert error["code"] == -32602
    assert told in error["message"]


def test_a_missing_key_asks_for_a_login_and_other_errors_of_the_config_do_not() -> None:
    house = daemon()
    editor = Editor(house)
    for words_, code in (("there is no model: no provider is named", -32000), ("unknown profile", -32602)):

        def refuse(_: Any, text: str = words_) -> SettingsMade:
            raise ConfigError(text)

        house.serve[ask.MakeSettings] = refuse
        assert editor.error("session/new", cwd="/w", mcpServers=[])["code"] == code
    assert editor.dialect._state.sessions == {}


# --- loaded ---------------------------------------------------------------------------------------------------------


def test_a_session_is_loaded_in_order_and_answered_after_that() -> None:
    house = daemon()
    session = history(house)
    editor = Editor(house)
    request = editor.begin("session/load", sessionId=session, cwd="/w", mcpServers=[])
    assert words(editor) == SAID
    assert editor.kinds()[-2:] == ["session_info_update", "available_commands_update"]
    assert editor.order()[-1] == f"={request}"
    assert editor.updates("session_info_update") == [editor.updates("session_info_update")[0]]
    assert editor.updates("session_info_update")[0]["title"] == "say 1"
    assert editor.seqs() == sorted(editor.seqs())


def test_a_loaded_session_goes_on_live() -> None:
    house = daemon()
    session = history(house)
    editor = Editor(house)
    editor.result("session/load", sessionId=session, cwd="/w", mcpServers=[])
    editor.forget()
    turn(house, editor, session, "say 3", "answer 3")
    assert words(editor) == [("agent", "answer 3")]


def test_of_a_long_history_the_newest_is_told_and_what_is_left_out_is_said_first() -> None:
    house = daemon()
    session = history(house, turns=60)
    editor = Editor(house, load_bytes=4_000)
    editor.result("session/load", sessionId=session, cwd="/w", mcpServers=[])
    told = words(editor)
    assert "earlier events of this conversation are not shown" in told[0][1]
    assert told[-1] == ("agent", "answer 60")
    numbers = [int(text.split()[1]) for who, text in told[1:] if who == "agent"]
    assert numbers == list(range(numbers[0], 61))
    assert 3 < len(numbers) < 60


def test_a_loaded_history_names_no_terminal() -> None:
    house = daemon()
    writer = Editor(house, "writer")
    session = writer.new()
    writer.prompt(session)
    one = ConversationId(session)
    house.say(
        one,
        command_began("ls", item="i1"),
        command_ended("a\n", item="i1"),
    )
    house.settle()
    editor = Editor(house, can={"_meta": {"terminal_output": True}})
    editor.result("session/load", sessionId=session, cwd="/w", mcpServers=[])
    begun, ended = editor.updates("tool_call")[0], editor.updates("tool_call_update")[0]
    assert "_meta" not in begun
    assert "_meta" not in ended
    assert ended["content"] == [{"type": "content", "content": {"type": "text", "text": "```\na\n```"}}]


def test_a_session_that_is_loaded_twice_has_one_reader() -> None:
    house = daemon()
    session = history(house)
    editor = Editor(house)
    for _ in range(2):
        editor.forget()
        editor.result("session/load", sessionId=session, cwd="/w", mcpServers=[])
        assert words(editor) == SAID
    assert len(list(editor.dialect._state.readers)) == 1


# --- resumed --------------------------------------------------------------------------------------------------------


def test_a_session_is_resumed_without_its_history_and_with_its_state_behind_the_answer() -> None:
    house = daemon()
    session = history(house)
    editor = Editor(house)
    request = editor.begin("session/resume", sessionId=session, cwd="/w")
    assert editor.order()[-3:] == [f"={request}", "session_info_update", "available_commands_update"]
    assert words(editor) == []


def test_a_resumed_session_is_told_what_runs() -> None:
    house = daemon()
    writer = Editor(house, "writer")
    session = writer.new()
    writer.prompt(session)
    one = ConversationId(session)
    house.say(one, command_began("make", item="i1"))
    house.settle()
    editor = Editor(house)
    editor.result("session/resume", sessionId=session, cwd="/w")
    house.say(one, command_ended(code=2, item="i1"))
    house.settle()
    (begun,), (ended,) = editor.updates("tool_call"), editor.updates("tool_call_update")
    assert (begun["title"], begun["status"], ended["status"]) == ("make", "in_progress", "failed")


@pytest.mark.parametrize("method", ["session/load", "session/resume", "session/prompt", "session/set_mode"])
@pytest.mark.parametrize("session", [UNKNOWN, "nonsense"])
def test_a_session_that_is_not_there_is_not_found(method: str, session: str) -> None:
    more: Json = {
        "session/prompt": {"prompt": [{"type": "text", "text": "x"}]},
        "session/set_mode": {"modeId": "ask"},
    }
    error = Editor(daemon()).error(method, sessionId=session, **more.get(method, {"cwd": "/w", "mcpServers": []}))
    assert error["code"] == -32002


# --- taken up again -------------------------------------------------------------------------------------------------


def test_a_bridge_takes_a_session_up_where_its_client_stood() -> None:
    house = daemon()
    session = history(house)
    place = Editor(house, "before")
    place.result("session/load", sessionId=session, cwd="/w", mcpServers=[])
    seen = [one["params"]["_meta"]["greenroom"]["seq"] for one in place.lines if "params" in one]
    messages = [one for one in place.lines if one.get("params", {}).get("update", {}).get("content")]
    for one in messages:
        at = one["params"]["_meta"]["greenroom"]["seq"]
        editor = Editor(house, f"after-{at}")
        assert editor.result("_greenroom/attach", sessionId=session, after=at) == {}
        assert words(editor) == SAID[messages.index(one) + 1 :]
    assert seen == sorted(seen)


def test_nothing_of_an_unfinished_message_is_said_twice() -> None:
    house = daemon()
    first = Editor(house, "first")
    session = first.new()
    first.prompt(session)
    one = ConversationId(session)
    house.say(one, ev.AgentMessageDelta(delta="one two ", item_id=ItemId("m")))
    house.settle()
    at = first.seqs()[-1]
    house.say(one, ev.AgentMessageDelta(delta="three ", item_id=ItemId("m")))
    house.settle()
    editor = Editor(house, "second")
    editor.result("_greenroom/attach", sessionId=session, after=at, shown={"m": 8})
    assert editor.text() == "three "
    house.say(one, ev.AgentMessageDelta(delta="four ", item_id=ItemId("m")))
    house.settle()
    house.say(one, ev.AgentMessage(message="one two three four five", item_id=ItemId("m")))
    house.settle()
    assert editor.text() == "three four five"


def test_a_prompt_that_a_bridge_repeats_is_answered_at_the_end_of_its_turn() -> None:
    house = daemon()
    first = Editor(house, "first")
    session = first.new()
    first.prompt(session, key="b/1")
    house.hang_up(first.mailbox)
    second = Editor(house, "second")
    second.begin("_greenroom/attach", sessionId=session, after=0, settle=False)
    request = second.prompt(session, key="b/1")
    assert second.answers(request) == []
    house.finish(ConversationId(session), "done")
    house.settle()
    assert second.answer(request)["result"] == {"stopReason": "end_turn"}
    assert house.turns == {}


@pytest.mark.parametrize("after", [0, 3])
def test_a_repeated_prompt_whose_turn_is_over_is_answered_after_its_events(after: int) -> None:
    house = daemon()
    first = Editor(house, "first", info="another")
    session = first.new()
    first.prompt(session, key="b/1")
    house.hang_up(first.mailbox)
    one = ConversationId(session)
    house.say(one, ev.AgentMessage(message="so it was", item_id=ItemId("m")))
    house.finish(one, "so it was")
    house.settle()
    second = Editor(house, "second")
    attach = second.begin("_greenroom/attach", sessionId=session, after=after, settle=False)
    request = second.prompt(session, key="b/1")
    assert second.answer(request)["result"] == {"stopReason": "end_turn"}
    assert second.text() == "so it was"
    assert second.order()[-1] in {f"={request}", f"={attach}"}
    assert second.order().index(f"={request}") > second.order().index("agent_message_chunk")


def test_a_place_beyond_the_history_is_its_end() -> None:
    house = daemon()
    session = history(house)
    editor = Editor(house)
    assert editor.result("_greenroom/attach", sessionId=session, after=10_000) == {}
    turn(house, editor, session, "say 3", "answer 3")
    assert words(editor) == [("agent", "answer 3")]


# --- lists ----------------------------------------------------------------------------------------------------------


def test_sessions_are_listed_by_directory_with_titles_and_times() -> None:
    house = daemon()
    editor = Editor(house)
    here, there = editor.new(cwd="/w/here"), editor.new(cwd="/w/there")
    turn(house, editor, here, "say 1", "answer 1")
    assert {one["sessionId"] for one in editor.result("session/list")["sessions"]} == {here, there}
    (row,) = editor.result("session/list", cwd="/w/here/")["sessions"]
    assert (row["sessionId"], row["cwd"], row["title"]) == (here, "/w/here", "say 1")
    assert row["updatedAt"].endswith("Z")
    assert editor.error("session/list", cursor="nonsense")["code"] == -32602


def test_lists_come_in_pages() -> None:
    house = daemon()
    editor = Editor(house)
    made = {editor.new() for _ in range(101)}
    first = editor.result("session/list")
    second = editor.result("session/list", cursor=first["nextCursor"])
    assert {one["sessionId"] for one in (*first["sessions"], *second["sessions"])} == made
    assert "nextCursor" not in second


def test_a_session_that_is_not_there_is_deleted_already() -> None:
    editor = Editor(daemon())
    assert editor.result("session/delete", sessionId=UNKNOWN) == {}
    assert editor.result("session/delete", sessionId="nonsense") == {}


def test_a_closed_session_is_not_read_any_more_and_its_turn_goes_on() -> None:
    house = daemon()
    editor = Editor(house)
    session = editor.new()
    editor.prompt(session)
    assert editor.result("session/close", sessionId=session) == {}
    assert ConversationId(session) in house.turns
    assert list(editor.dialect._state.readers) == []
    assert editor.error("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "x"}])["code"] == -32002
