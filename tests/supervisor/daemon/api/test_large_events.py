"""Events from before there was a bound: a conversation that has one is read, followed, exported and imported."""

import hashlib
import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.control_peer import ControlPeer
from tests.support.daemon_process import ROOT, DaemonProcess

pytestmark = pytest.mark.long(takes_s=15)

MIB = 1 << 20
SIZES = (48 * MIB,)  # characters; more than 64 MiB as an event, which is all that a client may leave unread
CARRIED = (12 * MIB,)  # nearly 17 MiB as an event: more than a message may have, less than is shortened
ALLOWED = 200 * MIB  # above what it has when idle


def put_between(journal: Path, conversation: str, sizes: tuple[int, ...]) -> list[int]:
    """Insert events of these sizes before the end of the only turn; their seqs."""
    with closing(sqlite3.connect(journal)) as db, db:
        (key,) = db.execute("SELECT key FROM conversations WHERE id = ?", (conversation,)).fetchone()
        last, ts, turn, type_, body = db.execute(
            "SELECT seq, ts, turn, type, body FROM events WHERE conversation = ? ORDER BY seq DESC LIMIT 1", (key,)
        ).fetchone()
        db.execute("DELETE FROM events WHERE conversation = ? AND seq = ?", (key, last))
        put = "INSERT INTO events (conversation, seq, ts, turn, type, body) VALUES (?, ?, ?, ?, ?, ?)"
        for place, size in enumerate(sizes):
            text = ('ü"\n\\u0000 ' * (size // 8))[:size]
            event = {"type": "work_began", "call_id": "c", "auto_approved": True, "item_id": f"large-{place}"}
            subject = {"kind": "files", "changes": {"/a": {"add": {"content": text}}}}
            large = json.dumps({**event, "subject": subject}, ensure_ascii=False).encode()
            db.execute(put, (key, last + place, ts, turn, event["type"], large))
        end = last + len(sizes)
        db.execute(put, (key, end, ts, turn, type_, body))
        db.execute("UPDATE tails SET last_seq = ? WHERE key = ?", (end, key))
        return list(range(last, end))


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaemonProcess]:
    daemon = DaemonProcess(tmp_path_factory.mktemp("large") / "home")
    with daemon:
        with daemon.connect() as peer:
            one = peer.create(name="large")
            peer.send(one, "say before")
            other = peer.create(name="carried")
            peer.send(other, "say before")
        daemon.hang_up()
        daemon.end()
        put_between(Path(daemon.paths.journal_file), one, SIZES)
        put_between(Path(daemon.paths.journal_file), other, CARRIED)
        daemon.start()
        yield daemon


@pytest.fixture
def peer(daemon: DaemonProcess) -> Iterator[ControlPeer]:
    before = daemon.resident_bytes()
    with daemon.connect() as peer:
        yield peer
        peer.call("daemon/status")  # it is still there, and so is the connection
    assert daemon.resident_bytes() - before < ALLOWED
    assert not [one for one in daemon.log() if one["event"] == "wire.overrun"]


def greenroom(daemon: DaemonProcess, *words: str) -> str:
    done = subprocess.run(
        [str(Path(sys.executable).with_name("greenroom")), *words],
        check=False,
        env=daemon.environ,
        cwd=ROOT,
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode()[-2_000:]
    return done.stdout.decode()


def test_history_has_every_event_the_large_ones_shortened_with_their_size(peer: ControlPeer) -> None:
    events, after, complete = [], 0, False
    while not complete:
        page = peer.call("conversation/history", conversation="large", after=after)
        events += page["events"]
        after, complete = events[-1]["seq"], page["complete"]
    assert [one["seq"] for one in events] == list(range(1, len(events) + 1))
    shown = [one["event"] for one in events if one["event"].get("item_id", "").startswith("large-")]
    assert [one["type"] for one in shown] == ["work_began"] * len(SIZES)
    for one in shown:
        assert "bytes were left out here" in one["subject"]["changes"]["/a"]["add"]["content"]


def test_a_reader_gets_all_of_it_and_then_what_comes(peer: ControlPeer) -> None:
    reader = peer.attach("large")
    peer.send("large", "say after")
    last = peer.call("conversation/get", conversation="large")["seq"]
    peer.wait_seq(reader, last)
    assert reader.seqs == list(range(1, last + 1))
    assert reader.ended is None


def test_it_is_shown_by_the_command_line(daemon: DaemonProcess) -> None:
    assert "before" in greenroom(daemon, "logs", "large")


def test_it_can_be_forked(peer: ControlPeer) -> None:
    fork = peer.call("conversation/fork", conversation="large")["conversation"]
    peer.send(fork, "say on")
    peer.call("conversation/delete", conversation=fork)


def test_it_is_exported_whole_by_a_daemon_that_never_holds_it(daemon: DaemonProcess, tmp_path: Path) -> None:
    before = daemon.resident_bytes()
    greenroom(daemon, "export", "large", str(tmp_path / "a"))
    assert daemon.resident_bytes() - before < ALLOWED
    assert (tmp_path / "a").stat().st_size > sum(SIZES)


def test_an_exported_conversation_is_imported_unchanged(daemon: DaemonProcess, tmp_path: Path) -> None:
    greenroom(daemon, "export", "carried", str(tmp_path / "a"))
    copy = greenroom(daemon, "import", str(tmp_path / "a"), "--new-id").strip()
    greenroom(daemon, "export", copy, str(tmp_path / "b"))
    original, again = events_of(tmp_path / "a"), events_of(tmp_path / "b")
    assert again[1 : len(original)] == original[1:]  # the first names the conversation
    greenroom(daemon, "rm", "--force", copy)


def events_of(path: Path) -> list[str]:
    """A fingerprint of each line but the head."""
    with path.open("rb") as lines:
        next(lines)
        return [hashlib.sha256(json.dumps(json.loads(line)["body"]).encode()).hexdigest() for line in lines]
