"""Records a journal with the code of the tree that it is run in; see README.md. `PYTHONPATH=TREE python record.py FILE PART…`.

It drives a daemon of that tree over its socket, and kills it. No name of an event is in here, so that it can record the
journals of later versions, too.
"""

import json
import shutil
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from supervisor.version import VERSION
from tests.support.control_peer import ControlPeer
from tests.support.daemon_process import DaemonProcess
from tests.support.model_server import ModelServer

FIRST = VERSION == "0.1.0"  # no tools of MCP servers, no third-party agents, no jobs, no searches
EXPORTED = "pastry" if FIRST else "every"  # the conversation that is written as an export, too
BASE = Path("/tmp/recorded")  # the same on every machine; all that a history names is in it
PROJECT = BASE / "project"
PALS = Path("/tmp")  # a third-party agent is started in its directory, which must be there where the journal is read
HERE = Path(__file__).parent
GROWS_S = 2.5  # so long does unfinished text grow before the kill: it is stored once a second
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360f8cf500f0003860180"
    "5a347d6b0000000049454e44ae426082"
)
CONFIG = """
model_provider = "test"
model = "scripted"
approval_policy = "untrusted"
sandbox_mode = "workspace-write"
{later}
[model_providers.test]
base_url = "{url}"
wire_api = "responses"
"""
LATER = """
[tools]
web_search = true
[agents.pal]
command = "python3"
args = ["/tmp/recorded/agent.py", "--options=ask", "--early", "--sessions=/tmp/recorded/sessions.json"]
confine = "none"
[mcp_servers.toys]
command = "python3"
args = ["/tmp/recorded/server.py"]
[mcp_servers.forms]  # a question is of the only call that its server is busy with
command = "python3"
args = ["/tmp/recorded/server.py"]
"""
GROWING = '["bash","-c","echo rhubarb at first; for i in $(seq 1 600); do echo line $i; sleep 0.05; done"]'


def until(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


class JournalRecorder:
    def __init__(self, client: ControlPeer) -> None:
        self.client = client

    def talk(self, name: str, **settings: Any) -> str:
        return self.client.create(name=name, **{"cwd": str(PROJECT), **settings})

    def question(self, conversation: str) -> str:
        found: list[Any] = []

        def asked() -> bool:
            found[:] = self.client.call("approvals/list", conversation=conversation)["approvals"]
            return bool(found)

        until(asked, f"no question in {conversation}")
        return str(found[0]["approval_id"])

    def ask(self, conversation: str, prompt: str, *answers: dict[str, Any], **more: Any) -> str:
        """A whole turn; each of its questions gets the next answer."""
        sent = self.client.start("conversation/send", conversation=conversation, prompt=prompt, wait=True, **more)
        for given in answers:
            self.client.call("approvals/answer", approval=self.question(conversation), **given)
        end = self.client.answer(sent, 20)
        print(f"{end['ending']}: {end['message']!r}")
        return str(end["ending"])

    def leave(self, name: str, prompt: str, *answers: dict[str, Any], grows: bool = True, **settings: Any) -> None:
        """A turn that the kill will find in the middle of its work, or of its next question."""
        conversation = self.talk(name, **settings)
        self.ask(conversation, "say cranberry was said before")
        self.client.call("conversation/send", conversation=conversation, prompt=prompt)
        for given in answers:
            self.client.call("approvals/answer", approval=self.question(conversation), **given)
        if not grows:
            self.question(conversation)


YES, NO = {"decision": "approved"}, {"decision": "denied", "reason": "not today"}
ALWAYS = {"decision": "approved_for_session"}


def commands(record: JournalRecorder) -> None:
    one = record.talk("commands")
    plan = '{"plan":[{"step":"look","status":"completed"},{"step":"bake","status":"in_progress"}]}'
    run = 'call shell ["bash","-c","echo marzipan; echo trouble >&2"]'
    record.ask(one, f"reason Look first | then bake; call update_plan {plan}; then; {run}; then; say baked", YES)
    record.ask(one, 'call shell ["rm","-rf","everything"]; then; say left alone', NO)
    added = "*** Begin Patch\\n*** Add File: notes.txt\\n+quince jelly\\n+a line\\n*** End Patch"
    record.ask(one, f"patch {added}; then; say written", YES)
    changed = "*** Begin Patch\\n*** Update File: notes.txt\\n@@\\n-a line\\n+another line\\n*** End Patch"
    record.ask(one, f"patch {changed}; then; say changed", YES)
    record.ask(one, f"patch {changed}; then; say it did not apply")
    record.ask(one, f"patch {added.replace('notes', 'refused')}; then; say not written", NO)
    record.ask(one, 'call shell ["bash","-c","echo before failing; exit 3"]; then; say it failed', YES)
    record.ask(one, 'call shell ["./make","cake"]; then; say made', ALWAYS)
    record.ask(one, 'call shell ["./make","cake"]; then; say made again')
    record.ask(one, "think a raw thought; words a message in several words; usage 30 7 3 2")
    record.ask(one, 'call no_such_tool {"a":1}; then; say there is no such tool')
    picture = [
        {"type": "text", "text": "say seen"},
        {"type": "image", "image_url": "data:image/png;base64,iVBORw0KGgo="},
    ]
    record.client.call("conversation/send", conversation=one, items=picture, wait=True)
    record.client.call("conversation/rename", conversation=one, name="pastry")
    if FIRST:
        return
    outside = {"decision": "approved", "outside": True}
    record.ask(one, 'call shell ["bash","-c","echo persimmon outside"]; then; say outside', outside)
    record.ask(one, "search the weather; say rain")
    record.ask(one, f'call view_image {{"path":"{PROJECT}/dot.png"}}; then; say a dot')
    job = '{"command":["bash","-c","echo elderflower; sleep 0.2"],"background":"conversation"}'
    record.ask(one, f"call shell {job}; then; say started", YES)
    time.sleep(0.5)  # its end is stored after the turn
    record.ask(one, "say after the job")
    record.client.call("conversation/set", conversation=one, settings={"effort": "high"})
    record.client.call("conversation/compact", conversation=one, wait=True)


def interrupted(record: JournalRecorder) -> None:
    one = record.talk("interrupted")
    sent = record.client.start("conversation/send", conversation=one, prompt="slow 50; stream 900 word", wait=True)
    time.sleep(0.4)
    queued = [
        record.client.call("conversation/send", conversation=one, prompt=f"say {n}", if_busy="enqueue") for n in "ab"
    ]
    record.client.call("conversation/interrupt", conversation=one)
    record.client.answer(sent)
    record.client.call("conversation/withdraw", conversation=one, input=queued[0]["input"])
    record.client.call("conversation/archive", conversation=record.talk("archived"))


def tools(record: JournalRecorder) -> None:
    one = record.talk("tools")
    record.ask(one, 'call toys__echo {"text":"tamarind"}; then; say echoed', YES)
    record.ask(one, 'call toys__write {"text":"cardamom"}; then; say written', YES)
    record.ask(one, 'call toys__write {"text":"no"}; then; say not written', NO)
    record.ask(one, 'call toys__add {"text":"kept"}; then; say kept', ALWAYS)
    record.ask(one, 'call toys__add {"text":"kept"}; then; say kept again')
    record.ask(one, "call toys__fail {}; then; say it failed", YES)
    record.ask(one, "call toys__picture {}; then; say a picture", YES)
    record.ask(one, "call toys__ask {}; then; say red", YES, {**YES, "content": {"colour": "red"}})
    record.ask(one, "call toys__ask {}; then; say no colour", YES, NO)
    record.ask(one, "call toys__ask_page {}; then; say logged in", YES, YES)


def agent(record: JournalRecorder) -> None:
    one = record.talk("agent", cwd=str(PALS), agent="pal", approval_policy="on-request")
    begin = "think first; then plan look, bake; then usage 100 1000 0.25; then title Saffron buns"
    record.ask(one, f"{begin}; then say hello; then run echo saffron")
    record.ask(one, "ask echo allowed by a person", {"decision": "approved", "option": "yes"})
    record.ask(one, "ask echo refused by a person", {"decision": "denied", "option": "no"})
    record.ask(one, "edit buns.txt: with raisins; then edit buns.txt: without raisins")
    record.ask(one, "ask-about fetch /etc/hostname", YES)
    record.ask(one, "run echo no luck && exit 5")
    record.ask(one, "shown echo turmeric; then stream 5")
    record.ask(one, "write spices.txt: nutmeg; then terminal echo cinnamon")


def unfinished(record: JournalRecorder) -> None:
    """Turns that the kill finds at work, one for each sort of work; and with a question, one for each sort."""
    free: dict[str, Any] = {"approval_policy": "never", "sandbox": "danger-full-access"}
    many = "; then; ".join('call shell ["echo","%d"]' % number for number in range(27))
    record.leave("killed-command", f"call shell {GROWING}; then; say done", YES)
    record.leave("killed-long", f"{many}; then; call shell {GROWING}; then; say done", **free)
    record.leave("killed-message", "reason why; slow 40; stream 900 word")
    record.leave("waiting-command", 'call shell ["touch","made"]; then; say thanks', grows=False)
    added = "*** Begin Patch\\n*** Add File: waiting.txt\\n+x\\n*** End Patch"
    record.leave("waiting-patch", f"patch {added}; then; say thanks", grows=False)
    one = record.talk("queued")
    record.client.call("conversation/send", conversation=one, prompt='call shell ["touch","made"]; then; say first')
    record.question(one)
    record.client.call("conversation/send", conversation=one, prompt="say loquat", if_busy="enqueue")
    if FIRST:
        return
    record.leave("killed-tool", "call toys__sleep {}; then; say done", YES)
    asks: dict[str, Any] = {"cwd": str(PALS), "agent": "pal", "approval_policy": "on-request"}
    record.leave("killed-agent", "shown for i in $(seq 1 600); do echo sumac $i; sleep 0.2; done", **asks)
    background = f'{{"command":{GROWING},"background":"conversation"}}'
    record.leave("killed-job", f"call shell {background}; then; slow 40; stream 900 word", YES)
    record.leave("waiting-tool", 'call toys__write {"text":"x"}; then; say thanks', grows=False)
    record.leave("waiting-form", "call forms__ask {}; then; say thanks", YES, grows=False)
    record.leave("waiting-agent", "ask echo asked by pal", grows=False, **asks)


def add_written(journal: Path, name: str, number: int) -> None:
    """A conversation of events that are written in `NAME.jsonl`, stored as a session would."""
    from actors.conversation import head_of, restore
    from actors.vocabulary.events import durable_adapter
    from actors.vocabulary.ids import ConversationId, TurnId
    from actors.vocabulary.records import Append, Record
    from supervisor.journal import SqliteJournal

    one = ConversationId(f"eeeeeeee-0000-4000-8000-{number:012d}")
    records = []
    for seq, line in enumerate((HERE / f"{name}.jsonl").read_text().splitlines(), 1):
        told = json.loads(line)
        event = durable_adapter.validate_json(json.dumps(told["event"]))
        turn = TurnId(told["turn"]) if told["turn"] else None
        records.append(Record(seq, 1_800_000_000.0 + seq, turn, event.type, event.model_dump_json().encode()))
    with closing(SqliteJournal(journal)) as opened:
        head = head_of(restore(one, None, tuple(records)))
        assert opened.commit([Append(one, tuple(records), head)]) == [None]


def write_export(journal: Path, into: Path) -> None:
    from supervisor.journal import SqliteJournal
    from supervisor.journal.export import export

    with closing(sqlite3.connect(journal)) as db:
        found = db.execute("SELECT name, id FROM conversations WHERE name = ?", (EXPORTED,)).fetchall()
    with closing(SqliteJournal(journal)) as opened:
        for name, one in found:
            lines = "".join(f"{line}\n" for line in export(opened, one))
            into.with_name(f"{into.stem}-{name}.export").write_text(lines)


def shrink(journal: Path, into: Path) -> None:
    """All in one file, without free pages."""
    with closing(sqlite3.connect(journal, isolation_level=None)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        db.execute("PRAGMA journal_mode=DELETE").fetchall()
        db.execute("PRAGMA page_size=1024")
        db.execute("VACUUM")
    shutil.copy(journal, into)


PARTS: dict[str, Callable[[JournalRecorder], None]] = {
    "commands": commands,
    "interrupted": interrupted,
    "tools": tools,
    "agent": agent,
    "unfinished": unfinished,
}
WRITTEN = {"every": 1, "open": 2}


def main(into: Path, parts: list[str]) -> None:
    shutil.rmtree(BASE, ignore_errors=True)
    PROJECT.mkdir(parents=True)
    (PROJECT / "dot.png").write_bytes(PNG)
    (PROJECT / "make").write_text("#!/bin/sh\necho made a $1\n")
    (PROJECT / "make").chmod(0o755)
    support = Path(sys.modules[ControlPeer.__module__].__file__ or "").parent
    if not FIRST:
        shutil.copy(support / "acp_agent.py", BASE / "agent.py")
        shutil.copy(support / "scripted_mcp_server.py", BASE / "server.py")
    with ModelServer() as model:
        config = CONFIG.format(url=model.base_url, later="" if FIRST else LATER)
        daemon = DaemonProcess(BASE / "home", config, {"PATH": "/usr/local/bin:/usr/bin:/bin"})
        daemon.start()
        try:
            record = JournalRecorder(daemon.connect("recorder"))
            for part in parts:
                if part not in WRITTEN:
                    PARTS[part](record)
            time.sleep(GROWS_S)
        finally:
            daemon.kill()
    for name in ("buns.txt", "spices.txt"):
        (PALS / name).unlink(missing_ok=True)
    journal = Path(daemon.paths.journal_file)
    for part in WRITTEN.keys() & set(parts):
        add_written(journal, part, WRITTEN[part])
    write_export(journal, into)
    shrink(journal, into)
    print(into, into.stat().st_size)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
