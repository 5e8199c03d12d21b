"""The socket: who comes in, who is sent away, and what happens to the path."""

import json
import os
import socket
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from actors.vocabulary.errors import ConfigError
from tests.transports.house import PATIENCE_S, LoopThread, descriptors, eventually
from tests.transports.place import HELLO, WELCOME, Place, error_of
from transports import socket_directory
from transports.address import PATH_LIMIT
from transports.listener import ListenerLimits

Opening = Callable[..., Place]


@pytest.fixture
def opening(loop: LoopThread, tmp_path: Path) -> Iterator[Opening]:
    places: list[Place] = []

    def open_place(limits: ListenerLimits | None = None, hello_s: float = PATIENCE_S) -> Place:
        place = Place(loop, tmp_path / "run" / "g.sock", limits or ListenerLimits(watch_s=0.02), hello_s)
        place.open()
        places.append(place)
        return place

    yield open_place
    for place in places:
        place.close()


# --- hello --------------------------------------------------------------------------------------------------------


def test_a_client_that_says_hello_is_served_and_identified_by_the_kernel(opening: Opening) -> None:
    place = opening()
    peer, reads = place.dial()
    peer.send(HELLO + b"one\ntwo\n")
    assert json.loads(reads.line()) == WELCOME
    assert reads.lines(2) == [b"one", b"two"]
    client = place.made[0].client
    assert (client.name, client.cwd, client.pid, client.uid) == ("test", "/src", os.getpid(), os.geteuid())


def test_a_hello_in_single_bytes_and_half_closed_is_still_served(opening: Opening) -> None:
    place = opening()
    peer, reads = place.dial()
    for at in range(len(HELLO)):
        peer.send(HELLO[at : at + 1])
    peer.send(b"one\n")
    peer.shut_down()
    assert json.loads(reads.line()) == WELCOME
    assert reads.end() == b"one\n"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b'{"greenroom":{"protocol":2,"dialect":"echo"}}\n', "unknown_protocol"),
        (b'{"greenroom":{"protocol":1,"dialect":"latin"}}\n', "unknown_dialect"),
        (b"GET / HTTP/1.1\r\n", "invalid_input"),
        (b"\xff\xfe\n", "invalid_input"),
    ],
)
def test_a_wrong_hello_is_answered_and_hung_up_and_starts_no_actor(opening: Opening, line: bytes, code: str) -> None:
    place = opening()
    peer, reads = place.dial()
    peer.send(line)
    assert error_of(reads)["data"]["code"] == code
    assert not place.made


def test_a_client_that_says_nothing_in_time_is_told_so_and_hung_up(opening: Opening) -> None:
    place = opening(hello_s=0.05)
    peer, reads = place.dial()
    peer.send(b'{"greenroom":')
    error = error_of(reads)
    assert (error["data"]["code"], error["data"]["retryable"]) == ("deadline_exceeded", True)


def test_a_client_that_hangs_up_without_a_word_leaves_nothing(opening: Opening) -> None:
    place = opening()
    peer, _ = place.dial()
    eventually(lambda: place.listener.clients == 1, "it was not accepted")
    peer.close()
    eventually(lambda: place.listener.clients == 0, "it was not noticed")


def test_a_dialect_that_can_not_be_made_is_an_answer_and_not_the_end_of_the_listener(opening: Opening) -> None:
    place = opening()
    peer, reads = place.dial()
    peer.send(HELLO.replace(b"echo", b"broken"))
    assert error_of(reads)["data"]["code"] == "internal"
    place.enter()


def has_clients(place: Place, count: int) -> bool:
    return place.listener.clients == count


# --- how many -----------------------------------------------------------------------------------------------------


def test_a_dialect_that_can_not_be_loaded_for_want_of_descriptors_may_be_asked_for_again(opening: Opening) -> None:
    place = opening()
    peer, reads = place.dial()
    peer.send(HELLO.replace(b"echo", b"unloaded"))
    assert error_of(reads)["data"] == {"code": "overloaded", "retryable": True}
    place.enter()


def test_beyond_the_limit_clients_are_refused_as_retryable_until_one_leaves(opening: Opening) -> None:
    place = opening(ListenerLimits(clients=2))
    inside = [place.enter()[0] for _ in range(2)]
    _, reads = place.dial()
    error = error_of(reads)
    assert (error["data"]["code"], error["data"]["retryable"]) == ("overloaded", True)
    inside.pop().close()
    eventually(lambda: place.listener.clients == 1, "it was not noticed")
    place.enter()
    inside.pop().close()


def test_twenty_at_once_are_all_served(opening: Opening) -> None:
    place = opening()
    dialled = [place.dial() for _ in range(20)]
    for number, (peer, _) in enumerate(dialled):
        peer.send(HELLO + b"%d\n" % number)
    for number, (_, reads) in enumerate(dialled):
        assert json.loads(reads.line()) == WELCOME
        assert reads.line() == b"%d" % number


# --- the path -----------------------------------------------------------------------------------------------------


def test_directory_and_socket_are_for_us_alone_and_the_umask_is_as_it_was(opening: Opening) -> None:
    before = os.umask(0o022)
    try:
        place = opening()
        assert stat.S_IMODE(place.path.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(place.path.stat().st_mode) == 0o600
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)


def test_a_directory_that_others_could_enter_is_closed_to_them(loop: LoopThread, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run").chmod(0o755)
    place = Place(loop, tmp_path / "run" / "g.sock", ListenerLimits())
    place.open()
    assert stat.S_IMODE(place.path.parent.stat().st_mode) == 0o700
    place.close()


def test_a_link_in_place_of_the_directory_is_refused(loop: LoopThread, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match="not a directory that Greenroom may use"):
        Place(loop, tmp_path / "run" / "g.sock", ListenerLimits()).open()


@pytest.mark.parametrize("more", [0, 1, 100])
def test_a_path_of_any_length_works(loop: LoopThread, tmp_path: Path, more: int) -> None:
    room = PATH_LIMIT - len(str(tmp_path)) - len("//g.sock") + more
    place = Place(loop, tmp_path / ("d" * room) / "g.sock", ListenerLimits())
    assert len(str(place.path)) == PATH_LIMIT + more
    place.open()
    place.enter()
    place.close()
    assert not place.path.exists()


def test_an_old_socket_is_removed_only_by_who_holds_the_lock(loop: LoopThread, tmp_path: Path) -> None:
    place = Place(loop, tmp_path / "g.sock", ListenerLimits())
    old = socket.socket(socket.AF_UNIX)
    old.bind(str(place.path))
    old.close()
    with pytest.raises(ConfigError, match="another daemon may be using it"):
        place.open(lock_held=False)
    assert place.path.exists()
    place.open(lock_held=True)
    place.enter()
    place.close()


def test_a_file_in_the_way_is_never_removed(loop: LoopThread, tmp_path: Path) -> None:
    place = Place(loop, tmp_path / "g.sock", ListenerLimits())
    place.path.write_text("precious")
    with pytest.raises(ConfigError, match="not a socket"):
        place.open(lock_held=True)
    assert place.path.read_text() == "precious"


@pytest.mark.parametrize("with_directory", [False, True])
def test_a_deleted_socket_is_made_again_and_who_is_in_stays_in(opening: Opening, with_directory: bool) -> None:
    place = opening()
    peer, reads = place.enter()
    if with_directory:  # in one step: between two it would be made again, and the directory not be empty
        place.path.parent.rename(place.path.parent.with_name("away"))
    else:
        place.path.unlink()
    eventually(place.path.exists, "it was not made again")
    place.enter()
    assert stat.S_IMODE(place.path.stat().st_mode) == 0o600
    peer.send(b"still here\n")
    assert reads.line() == b"still here"


def test_a_socket_of_somebody_else_in_our_place_is_left_alone_and_said_once(opening: Opening) -> None:
    place = opening()
    with capture_logs() as logs:
        place.path.unlink()
        other = socket.socket(socket.AF_UNIX)
        other.bind(str(place.path))
        theirs = socket_directory.inode_of(place.path)
        eventually(lambda: bool(logs), "nobody looked")
        time.sleep(0.1)  # several more looks: that nothing is said again can only be seen after a while
        place.close()
    assert socket_directory.inode_of(place.path) == theirs
    assert [one["event"] for one in logs].count("listener.lost") == 1
    other.close()


def test_a_client_without_a_hello_at_the_close_gets_a_retryable_error(opening: Opening) -> None:
    place = opening()
    inside, reads = place.enter()
    _, refusal = place.dial()
    eventually(lambda: place.listener.clients == 2, "it was not let to the door")
    place.loop.call(place.listener.close)
    assert error_of(refusal)["data"] == {"code": "overloaded", "retryable": True}
    inside.send(b"one\n")
    assert reads.line() == b"one"
    assert len(place.made) == 1


def test_closing_unlinks_the_socket_and_gives_back_every_descriptor(loop: LoopThread, tmp_path: Path) -> None:
    before = descriptors()
    place = Place(loop, tmp_path / "run" / "g.sock", ListenerLimits())
    place.open()
    place.enter()
    place.close()
    assert not place.path.exists()
    assert descriptors() == before


def test_a_failed_opening_gives_back_every_descriptor(loop: LoopThread, tmp_path: Path) -> None:
    (tmp_path / "g.sock").mkdir()
    before = descriptors()
    with pytest.raises(ConfigError):
        Place(loop, tmp_path / "g.sock", ListenerLimits()).open()
    assert descriptors() == before


def test_an_announcement_reaches_every_client(loop: LoopThread, tmp_path: Path) -> None:
    place = Place(loop, tmp_path / "g.sock", ListenerLimits())
    place.open()
    readings = [place.enter()[1] for _ in range(3)]
    eventually(lambda: len(place.switchboard.clients()) == 3, "not everybody came in")
    place.switchboard.announce("the journal is gone")
    assert [reading.line() for reading in readings] == [b"announced: the journal is gone"] * 3
    place.close()
