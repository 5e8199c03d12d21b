"""Journals that earlier versions left behind: read whole, woken, settled, talked to, searched, exported, forked.

Names of events are looked up in the files alone; of the daemon only behaviour is asserted. See tests/data/journals.
"""

import json
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from actors.vocabulary import events as ev
from tests.faults.follower import judge
from tests.support import acp_agent
from tests.support.acp_client import AcpClient, AcpSocket
from tests.support.daemon_process import ROOT, DaemonProcess
from tests.support.history_files import exported, imported
from tests.support.mcp_client import McpClient
from tests.support.model_server import ModelServer

pytestmark = pytest.mark.long(takes_s=20)

DATA = Path(__file__).parents[2] / "data" / "journals"
JOURNALS = sorted(DATA.glob("*.sqlite"))
EXPORTS = sorted(DATA.glob("*.export"))
PATIENCE_S = 20.0
CONFIG = """
model_provider = "test"
model = "scripted"
[model_providers.test]
base_url = "{url}"
wire_api = "responses"
[agents.pal]
command = "{python}"
args = ["{agent}", "--sessions={sessions}"]
confine = "none"
"""
# Members with words of people, models, agents, tools and commands: none of them may be lost, whatever holds it now.
WORDS = frozenset(
    {
        *("message", "text", "last_agent_message", "summary", "step", "explanation", "says", "given", "prompt"),
        *("command", "stdout", "stderr", "output", "arguments", "input", "tool", "server", "query", "title"),
        *("path", "unified_diff", "content", "fields", "choices", "names", "name", "url", "session", "traceback"),
        *("call_id", "item_id", "input_id", "approval_id", "job", "key", "by", "reason", "option", "fingerprint"),
    }
)
WORK = {  # as 0.2 called it
    *("exec_command_begin", "exec_command_end", "patch_apply_begin", "patch_apply_end", "web_search_end"),
    *("mcp_tool_call_begin", "mcp_tool_call_end", "tool_use_begin", "tool_use_end", "view_image_tool_call"),
}
ASKED = {"exec", "apply_patch", "mcp_tool_call", "elicitation", "tool_use"}
# The words that the last work of a killed turn, or the question that it waits with, is known by.
QUESTIONS = {
    "waiting-command": ("touch", "made"),
    "waiting-patch": ("waiting.txt", "x\n"),
    "waiting-tool": ("toys", "write"),
    "waiting-agent": ("asked by pal", "Yes, always"),
    "queued": ("touch", "made"),
}
TAILS = {
    "killed-command": "line 20\n",
    "killed-long": "line 20\n",
    "killed-message": "wordword",
    "killed-agent": "sumac 4\n",
    "killed-job": "wordword",
}
# The words that the next request has, besides those of people: of commands, tools and third-party agents.
OUTPUTS = {
    "tools": ("tamarind", '"colour": "red"', "no such thing"),
    "agent": ("saffron", "exit status 5", "turmeric"),
    "every": ("mulberry found", "echo bilberry: exit status 1", "medlar", "sloe gin"),
}
FOUND = {  # words that a search finds, in which conversation, and in which sort of text
    "0.1": {'"make cake"': ("pastry", "command"), '"made a cake"': ("pastry", "output")},
    "0.2": {
        '"make cake"': ("pastry", "command"),
        '"made a cake"': ("pastry", "output"),
        "turmeric": ("agent", "output"),
        '"rg mulberry"': ("every", "command"),
        '"mulberry warning"': ("every", "output"),
        '"echo bilberry"': ("every", "command"),
        '"bilberry said"': ("every", "output"),
        '"fetch a page"': ("every", "command"),
    },
    "0.2-killed": {'"line 20"': ("killed-command", "output"), '"sumac 4"': ("killed-agent", "output")},
}
SHOWN = {  # a conversation, words of the agent, and words of its work, which every kind of client shows
    "0.1": ("pastry", "baked", ("rm -rf everything", "made a cake", "before failing", "notes.txt")),
    "0.2": ("every", "a mirabelle answer", (
        *("rg mulberry", "mulberry found", "b.txt", "toys", "gone", "p.png", "sloe gin", "serve"),
        *("echo bilberry", "bilberry said", "Fetch a page"),
    )),
    "0.2-killed": ("killed-agent", "cranberry", ("sumac $i", "sumac 4")),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """An event as it stands in the file."""

    seq: int
    turn: str | None
    body: Any


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recorded journal: ids, events and pieces of unfinished text of its conversations, by their names."""

    path: Path
    ids: dict[str, str]
    events: dict[str, list[RecordedEvent]]
    unfinished: dict[str, list[Any]]


def recorded(path: Path) -> Recorded:
    found = Recorded(path, {}, {}, {})
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
        for key, conversation, name in db.execute("SELECT key, id, name FROM conversations").fetchall():
            query = "SELECT seq, turn, body FROM events WHERE conversation = ? ORDER BY seq"
            found.ids[name] = conversation
            found.events[name] = [
                RecordedEvent(seq, turn, json.loads(body)) for seq, turn, body in db.execute(query, (key,))
            ]
            if "unfinished" in tables:
                pieces = db.execute("SELECT body FROM unfinished WHERE key = ?", (key,))
                found.unfinished[name] = [json.loads(body) for (body,) in pieces]
    return found


class DaemonOfToday:
    """A daemon of the code under test, its model, and a client."""

    def __init__(self, daemon: DaemonProcess, model: ModelServer, sessions: Path) -> None:
        self.daemon = daemon
        self.model = model
        self.client = daemon.connect()
        self._sessions = sessions

    def history(self, conversation: str) -> list[Any]:
        events: list[Any] = []
        while True:
            page = self.client.call("conversation/history", conversation=conversation, after=len(events), limit=1000)
            events += page["events"]
            if page["complete"]:
                return events

    def questions(self, conversation: str) -> list[Any]:
        return list(self.client.call("approvals/list", conversation=conversation)["approvals"])

    def state(self, conversation: str) -> Any:
        return self.client.call("conversation/get", conversation=conversation)

    def wake(self, conversation: str) -> None:
        """Attach, say no to each question, and wait until no turn is open."""
        self.client.wait_live(self.client.attach(conversation))

        def at_rest() -> bool:
            for question in self.questions(conversation):
                self.client.call("approvals/answer", approval=question["approval_id"], decision="denied")
            state = self.state(conversation)
            return state["turn"] is None and (state["paused"] or not state["queued"])

        until(at_rest, f"{conversation} is not at rest")

    def said_to_model(self, conversation: str) -> str:
        """Everything that the model, or the agent, is told for one more message."""
        if self.state(conversation)["state"] == "archived":
            self.client.call("conversation/archive", conversation=conversation, archived=False)
        before = len(self.model.requests)
        end = self.client.send(conversation, "say apricot")
        assert (end["ending"], end["message"]) == ("completed", "apricot")
        told = [text for request in self.model.requests[before:] for text in strings(request.body, every=True)]
        if self.state(conversation)["settings"]["agent"]:
            told = [text for session in json.loads(self._sessions.read_text()).values() for text in session]
        return "\n".join(told)


@contextmanager
def daemon_of_today(base: Path, journal: Path | None = None) -> Iterator[DaemonOfToday]:
    """A daemon with a home of its own, in which the journal has been found."""
    sessions = base / "sessions.json"
    with ModelServer() as model:
        config = CONFIG.format(url=model.base_url, python=sys.executable, agent=acp_agent.__file__, sessions=sessions)
        daemon = DaemonProcess(base / "home", config)
        if journal is not None:
            Path(daemon.paths.state).mkdir(mode=0o700, parents=True)
            shutil.copy(journal, daemon.paths.journal_file)
        with daemon:
            yield DaemonOfToday(daemon, model, sessions)
        assert not [line for line in daemon.log() if line["level"] in {"error", "critical"}]


@dataclass(frozen=True, slots=True)
class Opened:
    """A recorded journal in the home of a daemon, which has woken all of it.

    `asked`: the questions before anybody answered. `histories`, `states`: before anybody said more.
    """

    file: Recorded
    today: DaemonOfToday
    asked: dict[str, list[Any]]
    histories: dict[str, list[Any]]
    states: dict[str, Any]


@pytest.fixture(scope="module", params=JOURNALS, ids=lambda path: path.stem)
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    file = recorded(request.param)
    with daemon_of_today(tmp_path_factory.mktemp("recorded"), file.path) as today:
        asked = {name: today.questions(file.ids[name]) for name in file.ids}
        for conversation in file.ids.values():
            today.wake(conversation)
        histories = {name: today.history(conversation) for name, conversation in file.ids.items()}
        states = {name: today.state(conversation) for name, conversation in file.ids.items()}
        yield Opened(file, today, asked, histories, states)


def until(condition: Callable[[], object], otherwise: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.01)


def strings(value: Any, *, every: bool = False) -> Iterator[str]:
    """The texts in the value, those of `WORDS` or every one, and the names of files."""
    if isinstance(value, str) and every:
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from strings(part, every=every)
    elif isinstance(value, dict):
        yield from (name for name in value if name.startswith("/"))
        for name, part in value.items():
            if name != "settings":
                yield from strings(part, every=every or name in WORDS)


def lost_words(before: Any, after: Any) -> list[str]:
    kept = "\n".join(strings(after, every=True))
    return [text for text in strings(before) if text not in kept]


def as_read(envelope: Any) -> Any:
    """The event as the models of today read it."""
    return ev.durable_adapter.validate_json(json.dumps(envelope["event"])).model_dump(mode="json")


def of_people(events: list[RecordedEvent]) -> list[str]:
    """The messages of people that a turn has taken."""
    taken = [event.body for event in events if event.body["type"] == "user_message"]
    return [body["message"] for body in taken if body["kind"] == "plain"]


def test_the_recordings_have_each_type_of_work_of_questions_and_of_unfinished_text_of_0_2() -> None:
    files = [recorded(path) for path in JOURNALS]
    events = {event.body["type"] for file in files for events in file.events.values() for event in events}
    assert WORK | {f"{kind}_approval_request" for kind in ASKED} <= events
    assert {piece["type"] for file in files for pieces in file.unfinished.values() for piece in pieces} == {
        *("agent_message_delta", "exec_command_output_delta", "tool_use_delta")
    }


def test_every_event_is_told_with_all_its_words(opened: Opened) -> None:
    rows = opened.today.client.call("conversation/list", archived=True, limit=100)["conversations"]
    assert {row["conversation"] for row in rows} >= set(opened.file.ids.values())
    for name, events in opened.file.events.items():
        history = opened.histories[name]
        assert [one["seq"] for one in history] == list(range(1, len(history) + 1))
        for before, after in zip(events, history, strict=False):
            assert (before.seq, before.turn) == (after["seq"], after["turn"])
            assert not lost_words(before.body, as_read(after)), f"{name} {before.seq}"
        assert len(history) >= len(events)


def test_a_turn_that_was_killed_is_lost_and_all_of_its_work_has_an_end(opened: Opened) -> None:
    for name, history in opened.histories.items():
        judge(history)
        lost = name.startswith("killed-") or name == "waiting-form"  # a server's question goes with the server
        assert (opened.states[name]["ended"] == "lost") is lost, name
        if opened.file.unfinished.get(name):
            assert TAILS[name] in "\n".join(strings([one["event"] for one in history], every=True)), name


def test_a_question_that_waited_is_asked_again_with_all_its_words(opened: Opened) -> None:
    assert {name for name, asked in opened.asked.items() if asked} == QUESTIONS.keys() & opened.file.ids.keys()
    for name, asked in opened.asked.items():
        for question in asked:
            (before,) = [
                event.body for event in opened.file.events[name] if event.body["type"].endswith("_approval_request")
            ]
            assert question["approval_id"] == before["approval_id"]
            assert not lost_words(before, question), name
            assert all(words in "\n".join(strings(question, every=True)) for words in QUESTIONS[name]), name


def test_every_conversation_goes_on_from_all_that_was_said(opened: Opened) -> None:
    for name, conversation in opened.file.ids.items():
        told = opened.today.said_to_model(conversation)
        expected = [*of_people(opened.file.events[name]), *OUTPUTS.get(name, ())]
        assert [words for words in expected if words not in told] == [], name
        judge(opened.today.history(conversation))


def test_words_of_commands_tools_and_agents_are_found(opened: Opened) -> None:
    client = opened.today.client
    until(lambda: client.call("conversation/search", query="x")["read"] == 1, "the search is not up to date")
    for query, (name, kind) in FOUND[opened.file.path.stem].items():
        hits = client.call("conversation/search", query=query, conversation=name, limit=100)["hits"]
        assert kind in {hit["kind"] for hit in hits}, query


def test_every_conversation_is_exported_imported_and_forked(opened: Opened, tmp_path: Path) -> None:
    today, client = opened.today, opened.today.client
    for name, conversation in opened.file.ids.items():
        lines = exported(client, conversation)
        copy = imported(client, lines, new_id=True, cwd=str(tmp_path))["conversation"]
        fork = client.call("conversation/fork", conversation=conversation)["conversation"]
        before = [one["event"] for one in today.history(conversation)]
        for other in (copy, fork):
            after = [one["event"] for one in today.history(other)]
            assert [one["type"] for one in after[1 : len(before)]] == [one["type"] for one in before[1:]], name
        told = today.said_to_model(copy)
        assert [words for words in of_people(opened.file.events[name]) if words not in told] == [], name


def test_mcp_clients_list_read_and_resume_an_old_conversation(opened: Opened) -> None:
    name, said, work = SHOWN[opened.file.path.stem]
    conversation = opened.file.ids[name]
    with McpClient(opened.today.daemon.environ) as client:
        rows = client.result("list_conversations", {"limit": 200})["structuredContent"]["conversations"]
        assert set(opened.file.ids.values()) - {opened.file.ids.get("archived")} <= {row["threadId"] for row in rows}
        text = client.result("read_conversation", {"threadId": conversation})["structuredContent"]["text"]
        assert [words for words in (said, *work) if words not in text] == []
        listed = client.ask("listConversations", {"pageSize": 100})["result"]["items"]
        (path,) = [item["path"] for item in listed if item["path"].endswith(conversation)]
        resumed = client.ask("resumeConversation", {"path": path})["result"]
        assert resumed["conversationId"] == conversation
        assert said in json.dumps(resumed["initialMessages"])


def test_an_acp_editor_loads_an_old_conversation_with_all_of_its_work(opened: Opened) -> None:
    name, said, work = SHOWN[opened.file.path.stem]
    with AcpClient(AcpSocket(str(opened.today.daemon.socket), {"client": {"name": "bridge"}})) as editor:
        editor.result("session/load", sessionId=opened.file.ids[name], cwd="/tmp", mcpServers=[])
        text = "\n".join(strings(editor.updates(), every=True))
    assert [words for words in (said, *work) if words not in text] == []


def test_the_command_line_shows_an_old_conversation_with_all_of_its_work(opened: Opened) -> None:
    name, said, work = SHOWN[opened.file.path.stem]
    logs = (sys.executable, "-m", "supervisor.cli.app", "logs", opened.file.ids[name])
    shown = subprocess.run(
        logs, env=opened.today.daemon.environ, cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert [words for words in (said, *work) if words not in shown.stdout] == []


@pytest.mark.parametrize("path", EXPORTS, ids=lambda path: path.stem)
def test_an_export_of_an_earlier_version_is_imported_and_goes_on(path: Path, tmp_path: Path) -> None:
    lines = path.read_text().splitlines()
    events = [RecordedEvent(told["seq"], told["turn"], told["body"]) for told in map(json.loads, lines[1:])]
    with daemon_of_today(tmp_path) as today:
        copy = imported(today.client, lines, cwd=str(tmp_path))["conversation"]
        history = today.history(copy)
        for before, after in zip(events, history, strict=False):
            assert not lost_words(before.body, as_read(after)), before.seq
        told = today.said_to_model(copy)
        assert [words for words in of_people(events) if words not in told] == []
