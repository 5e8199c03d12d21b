"""The blocking client against a real daemon: its methods, its errors, many threads, and a daemon that is killed."""

import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import takewhile
from pathlib import Path

import pytest

import greenroom
from greenroom.events import AgentMessage, AgentMessageDelta, Compacted, TaskComplete, TurnAborted, UserMessage
from tests.support.control_peer import WAIT_S
from tests.support.daemon_process import DaemonProcess

TERMINAL = TaskComplete | TurnAborted


def until_the_end(events: "greenroom.Events[greenroom.Event, int | None]") -> list[greenroom.Event]:
    return [*takewhile(lambda event: not isinstance(event, TERMINAL), events)]


# --- methods --------------------------------------------------------------------------------------------------------


def test_a_prompt_is_run_to_its_end(client: greenroom.Client) -> None:
    turn = client.run("say hello", name="greeting")
    assert (turn.ending, turn.message) == ("completed", "hello")
    assert client.wait("greeting") == client.wait(turn.conversation) == turn
    said = [event.message for event in client.history("greeting") if isinstance(event, UserMessage | AgentMessage)]
    assert {"say hello", "hello"} <= set(said)


def test_a_history_is_summed_up_on_request_and_not_twice(client: greenroom.Client) -> None:
    one = client.run("say first", name="long").conversation
    client.send_and_wait(one, "say second")
    turn = client.compact("long")
    assert turn.ending == "completed"
    assert [event.why for event in client.history(one) if isinstance(event, Compacted)] == ["asked"]
    with pytest.raises(greenroom.Refusal, match="nothing to sum up"):
        client.compact(one)
    assert client.send_and_wait(one, "say third").message == "third"


def test_conversations_are_kept_as_the_command_line_keeps_them(daemon: DaemonProcess, tmp_path: Path) -> None:
    with greenroom.Client() as client:
        made = client.create("work", cwd=tmp_path, sandbox="read-only")
        assert made.settings["cwd"] == str(tmp_path)
        client.rename("work", "play")
        copy = client.fork("play", name="copy")
        assert {row.name for row in client.conversations()} == {"play", "copy"}
        client.archive("play")
        assert [row.conversation for row in client.conversations()] == [copy]
        client.delete("copy")
        assert [row.name for row in client.conversations(archived=True)] == ["play"]
        assert client.get("play").conversation == made.conversation
        assert client.status().pid == daemon.pid
        assert client.call("daemon/status")["pid"] == daemon.pid


def test_a_search_finds_messages(client: greenroom.Client) -> None:
    first = client.run("say the walrus", name="sea")
    client.run("say the seal")
    hits = client.search("walrus")
    assert {(hit.conversation, hit.name) for hit in hits} == {(first.conversation, "sea")}
    assert [hits[0].text[begin:end] for begin, end in hits[0].marks] == ["walrus"]
    assert client.search("walrus", limit=1) == hits[:1]
    assert client.search("walrus", since=hits[0].ts + 3600) == client.search("unheard") == []


def test_a_turn_is_interrupted_and_the_conversation_goes_on(client: greenroom.Client) -> None:
    one = client.create().conversation
    client.send(one, "count 5000")
    with client.attach(one) as events:
        next(event for event in events if isinstance(event, AgentMessageDelta))
        assert client.interrupt(one, reason="enough").ending == "interrupted"
        assert next(event for event in events if isinstance(event, TERMINAL)).type == "turn_aborted"
    assert client.send_and_wait(one, "say on").message == "on"


def test_questions_are_found_answered_once_and_lead_to_the_end_of_the_turn(client: greenroom.Client) -> None:
    one = client.create().conversation
    client.send(one, "ask true")
    question = next(client.questions())
    assert [found.approval_id for found in client.approvals(one)] == [question.approval_id]
    assert client.get(one).pending[0].call_id == question.call_id
    client.answer(question.approval_id, "denied", reason="not now")
    with pytest.raises(greenroom.errors.AlreadyAnswered) as late:
        client.answer(question.approval_id, "approved")
    assert late.value.details["decision"] == "denied"
    turn = client.wait(one)
    assert turn is not None
    assert "not now" in str(turn.message)


def test_the_same_key_says_the_same_only_once(client: greenroom.Client) -> None:
    one = client.create().conversation
    first, again = (client.send_and_wait(one, "say it", key="k") for _ in range(2))
    assert first == again
    assert client.send(one, "say it", key="k").duplicate


def test_a_reader_that_is_left_is_no_longer_attached(client: greenroom.Client) -> None:
    one = client.create().conversation
    for _ in client.attach(one):
        break
    with client.attach(one) as events:
        next(events)
    assert client.get(one).readers == []


# --- errors and limits ----------------------------------------------------------------------------------------------


def test_without_a_daemon_it_is_said_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GREENROOM_HOME", str(tmp_path))
    with pytest.raises(greenroom.DaemonDown, match=r"not running; run `greenroom up`, or say Client\(start=True\)"):
        greenroom.Client()


def test_a_daemon_is_started_if_that_is_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GREENROOM_HOME", str(tmp_path))
    (tmp_path / "config.toml").write_text('model_provider = "demo"\n')
    with greenroom.Client(start=True) as client:
        assert client.run("say hello").message == "hello"
        client.call("daemon/down", drain_s=0.0)


def test_a_daemon_that_cannot_start_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GREENROOM_HOME", str(tmp_path))
    (tmp_path / "config.toml").write_text("model = 7\n")
    with pytest.raises(greenroom.errors.StartFailed, match=r"the daemon could not start: .*model"):
        greenroom.Client(start=True)


def test_a_refusal_is_an_exception_with_the_stable_code(client: greenroom.Client) -> None:
    with pytest.raises(greenroom.errors.UnknownConversation, match="nothing") as raised:
        client.get("nothing")
    assert (raised.value.code, raised.value.retryable) == ("unknown_conversation", False)
    client.create("one")
    with pytest.raises(greenroom.errors.NameTaken):
        client.create("one")
    with pytest.raises(greenroom.errors.InvalidInput):
        client.call("conversation/get", wrong="member")


def test_when_the_time_is_over_the_turn_goes_on_and_the_client_too(client: greenroom.Client) -> None:
    one = client.create().conversation
    with pytest.raises(greenroom.TimedOut):
        client.send_and_wait(one, "count 5000", timeout_s=0.3)
    with pytest.raises(greenroom.TimedOut):
        client.wait(one, timeout_s=0.1)
    assert client.get(one).state == "running"
    assert client.interrupt(one).ending == "interrupted"


# --- many at once ---------------------------------------------------------------------------------------------------


def test_answers_reach_their_threads_while_many_requests_are_in_flight(client: greenroom.Client) -> None:
    count = 16
    with ThreadPoolExecutor(count) as pool:
        gate = threading.Barrier(count)

        def say(number: int) -> tuple[str, str | None]:
            gate.wait(WAIT_S)
            turn = client.run(f"say {number * number}", name=f"n{number}")
            return client.get(f"n{number}").preview, turn.message

        said = list(pool.map(say, range(count)))
    assert said == [(f"say {n * n}", str(n * n)) for n in range(count)]


def test_a_large_request_leaves_while_the_daemon_has_much_to_say(client: greenroom.Client) -> None:
    """The daemon takes no more requests of a client that does not read its answers."""
    text = "x" * 1_000_000
    one = client.create().conversation
    for _ in range(6):
        client.send_and_wait(one, f"say {text}")
    with client.attach(one) as events:
        next(events)
        assert client.send_and_wait(one, f"say {text}", timeout_s=WAIT_S).message == text


# --- a daemon that goes away ----------------------------------------------------------------------------------------


def test_an_attached_reader_misses_nothing_and_gets_nothing_twice_over_a_kill(daemon: DaemonProcess) -> None:
    with greenroom.Client() as client:
        one = client.create().conversation
        client.send_and_wait(one, "say before")
        client.send(one, "count 5000")
        events = client.attach(one)
        seen = [*takewhile(lambda event: not isinstance(event, AgentMessageDelta), events)]
        daemon.kill()
        daemon.start()
        seen += until_the_end(events)
        client.send(one, "say after")
        seen += until_the_end(events)
        stored = [event for event in seen if event.seq is not None]
        # each end of a turn was taken by the search for it
        everything = [event for event in client.history(one) if not isinstance(event, TERMINAL)]
        assert [event for event in stored if not isinstance(event, TERMINAL)] == everything
        assert events.cursor == client.get(one).seq


def test_a_follower_of_everything_misses_nothing_and_gets_nothing_twice_over_a_kill(daemon: DaemonProcess) -> None:
    with greenroom.Client() as client:
        one, two = (client.create().conversation for _ in range(2))
        client.send_and_wait(one, "say before")
        events = client.follow(after={})
        seen = [next(events) for _ in range(3)]
        daemon.kill()
        daemon.start()
        for conversation in (two, one):
            client.send_and_wait(conversation, "say after")
        wanted = [*client.history(one), *client.history(two)]
        seen += [next(events) for _ in range(len(wanted) - len(seen))]
        assert sorted(seen, key=lambda event: (event.conversation, event.seq)) == sorted(
            wanted, key=lambda event: (event.conversation, event.seq)
        )
        assert events.cursor == {one: client.get(one).seq, two: client.get(two).seq}
        client.send_and_wait(two, "say more")
        later = next(client.follow(after=events.cursor))
        assert (later.conversation, later.seq) == (two, events.cursor[two] + 1)


def test_a_connection_that_breaks_in_the_middle_of_words_doubles_none_of_them(client: greenroom.Client) -> None:
    one = client.create().conversation
    client.send(one, "count 60")
    words, breaks = "", 0
    with greenroom.Client(name="broken") as broken:
        for event in broken.attach(one):
            if isinstance(event, AgentMessageDelta):
                words += event.delta
                if breaks < 3 and len(words) > 40 * (breaks + 1):  # the end of it has come to stay
                    breaks += 1
                    hang_up(client, "broken")
            elif isinstance(event, AgentMessage):
                assert words == event.message
                break
    assert breaks == 3


def hang_up(client: greenroom.Client, name: str) -> None:
    for row in client.call("clients/list")["clients"]:
        if row["name"] == name:
            client.call("clients/kill", connection=row["connection"])


def test_a_prompt_that_waits_is_told_how_its_turn_ended_over_a_kill(daemon: DaemonProcess) -> None:
    with greenroom.Client() as client, ThreadPoolExecutor(2) as pool:
        one = client.create().conversation
        sent = pool.submit(client.send_and_wait, one, "count 5000")
        next(event for event in client.attach(one) if isinstance(event, AgentMessageDelta))
        waiting = pool.submit(client.wait, one)
        daemon.kill()
        daemon.start()
        assert sent.result(WAIT_S).ending == "lost"
        turn = waiting.result(WAIT_S)
        assert turn is not None
        assert turn.ending == "lost"


def test_a_daemon_that_does_not_come_back_ends_the_patience(daemon: DaemonProcess) -> None:
    with greenroom.Client(reconnect_s=0.2) as client:
        events = client.attach(client.create().conversation)
        next(events)
        daemon.kill()
        with pytest.raises(greenroom.DaemonDown):
            list(events)
        with pytest.raises(greenroom.DaemonDown):
            client.status()
        daemon.start()
        assert client.status().pid == daemon.pid


# --- the package ----------------------------------------------------------------------------------------------------


def test_importing_the_package_loads_next_to_nothing() -> None:
    look = (
        "import sys; import typing; before = set(sys.modules); import greenroom; print(*(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["greenroom"]


@pytest.mark.parametrize("name", ["Client", "AsyncClient"])
def test_a_client_needs_the_standard_library_alone(name: str) -> None:
    look = f"import sys, greenroom; greenroom.{name}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    tops = {module.partition(".")[0] for module in done.stdout.split()}
    assert not tops & {"pydantic", "pykka", "structlog", "httpx", "rich", "anyio", "transports"}


def test_every_public_name_is_there_and_no_other() -> None:
    assert {name for name in greenroom.__all__ if not hasattr(greenroom, name)} == set()
    assert dir(greenroom) == sorted(greenroom.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        greenroom.nothing  # type: ignore[attr-defined]  # that is what is tried  # noqa: B018


def test_both_clients_have_the_same_methods() -> None:
    blocking, awaited = (
        {name for name in dir(kind) if not name.startswith("_")} for kind in (greenroom.Client, greenroom.AsyncClient)
    )
    assert awaited - blocking == {"connect"}
    assert blocking - awaited == set()


def test_every_error_that_the_daemon_may_answer_with_has_a_class_of_its_own() -> None:
    page = (Path(__file__).parents[2] / "docs" / "control-api.md").read_text(encoding="utf-8")
    codes = set(re.findall(r"^\| `(\w+)` \| -\d+", page, re.MULTILINE))
    of_another_hello = {"unknown_dialect"}
    for code in codes - of_another_hello:
        found = greenroom.errors.error_of({"message": "no", "data": {"code": code, "retryable": True}})
        assert (found.code, type(found).__module__) in {
            (code, "actors.vocabulary.errors"),
            (code, "greenroom.errors"),
        }
