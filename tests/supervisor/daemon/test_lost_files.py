"""Files that a running daemon needs are deleted: every client is told within seconds, nothing is acknowledged."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.messages.journal import Chore, ChoreDone
from actors.vocabulary.errors import StorageFailed
from supervisor.daemon.daemon_lock import AlreadyRunning, DaemonLock, lock_holder
from supervisor.engine.health import Health
from tests.support.bridge import wait_until
from tests.support.control_client import ControlClient, Refused
from tests.support.home import Home

SEND = {"items": [{"type": "text", "text": "hello"}]}


@pytest.fixture
def running(home: Home) -> Iterator[Home]:
    with home.daemon():
        yield home


def create(client: ControlClient) -> str:
    return str(client.ask("conversation/create", provider="demo", model="demo", cwd="/tmp")["conversation"])


def trouble(client: ControlClient) -> str:
    return str(client.ask("daemon/status")["trouble"] or "")


def test_a_deleted_journal_is_said_to_everybody_and_nothing_is_taken_any_more(running: Home) -> None:
    with running.client() as client, running.client(name="another") as other:
        kept = create(client)
        for file in sorted(Path(running.paths.state).glob("journal.sqlite3*")):  # the journal itself first:
            file.unlink()  # a look that comes between two of them says the same as the next
        with pytest.raises(Refused) as refused:
            create(client)
        assert refused.value.code == "storage_lost"
        wait_until(lambda: trouble(client) != "", "it was not noticed")
        assert "was deleted" in trouble(client)
        other.ask("clients/list")
        (told,) = [event for event in other.events if event["method"] == "announcement"]
        assert "was deleted" in told["params"]["message"]
        assert running.logged("health.trouble")
        (copy,) = Path(running.paths.state).glob("journal.rescued-*")
        assert str(copy) in trouble(client)
        assert client.ask("conversation/get", conversation=kept)["conversation"] == kept  # reading goes on
    copy.rename(running.paths.journal_file)
    # what was there is there again, for the next daemon


def test_a_home_that_was_moved_and_comes_back_goes_on(running: Home) -> None:
    state = Path(running.paths.state)
    with running.client() as client:
        create(client)
        state.rename(state.with_name("moved"))
        with pytest.raises(Refused):
            create(client)
        wait_until(lambda: "was moved to" in trouble(client), "it was not noticed")
        state.with_name("moved").rename(state)
        wait_until(lambda: trouble(client) == "", "it was not noticed that it is back")
        create(client)
        said = [event["params"]["message"] for event in client.events if event["method"] == "announcement"]
        assert len(said) == 2
        assert said[1].endswith("well again")


def test_a_daemon_whose_journal_is_gone_still_ends_in_order(home: Home) -> None:
    with home.daemon() as daemon:
        with home.client() as client:
            create(client)
            shutil.rmtree(home.paths.state)
            wait_until(lambda: trouble(client) != "", "it was not noticed")
            assert "its directory is gone" in trouble(client)
        assert daemon.stop() == 0


def test_a_deleted_lock_is_taken_again_and_still_keeps_others_out(running: Home) -> None:
    lock = Path(running.paths.lock_file)
    before = lock_holder(str(lock))
    assert before is not None
    lock.unlink()
    wait_until(lock.exists, "it was not made again")
    wait_until(
        lambda: (found := lock_holder(str(lock))) is not None and found.socket == running.socket, "nobody holds it"
    )
    with pytest.raises(AlreadyRunning):
        DaemonLock(str(lock))
    found = lock_holder(str(lock))
    assert found is not None
    assert (found.pid, found.life) == (before.pid, before.life)


# --- its health -----------------------------------------------------------------------------------------------------


class Desk:
    """A journalist and a clock that act when the test says so."""

    def __init__(self) -> None:
        self.found: list[str | None] = []
        self.said: list[str] = []
        self.alarms: list[tuple[Any, object]] = []
        self.health = Health((lambda: self.found.pop(0), lambda: None), self, self, self.said.append)  # type: ignore[arg-type]

    def tell_later(self, _: float, who: Any, message: object) -> None:
        self.alarms.append((who, message))

    def tell(self, message: object) -> None:
        assert isinstance(message, Chore)
        message.reply_to.tell(ChoreDone(message.work()))

    def look(self, *found: str | None) -> None:
        for one in found:
            self.found.append(one)
            who, alarm = self.alarms.pop()
            who.tell(alarm)


def test_every_change_is_said_once() -> None:
    desk = Desk()
    desk.health.begin()
    desk.look(None, "gone", "gone", None, None, "gone")
    assert [text.rpartition(" ")[2] for text in desk.said] == ["gone", "again", "gone"]
    assert desk.health.trouble == "gone"


def test_a_look_that_fails_is_told_as_what_it_is_and_the_next_one_comes() -> None:
    desk = Desk()
    desk.health.begin()
    desk.alarms.clear()
    desk.health.tell(ChoreDone(StorageFailed("the disk is away")))
    assert desk.health.trouble == "the disk is away"
    assert len(desk.alarms) == 1


def test_both_that_look_are_heard() -> None:
    said: list[str] = []
    looks: tuple[Callable[[], str | None], ...] = (lambda: "one", lambda: "two")
    health = Health(looks, Desk(), Desk(), said.append)  # type: ignore[arg-type]
    assert json.dumps(health._look()) == '"one; two"'
