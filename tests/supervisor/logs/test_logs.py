import asyncio
import io
import json
import logging
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import structlog
from structlog.contextvars import bound_contextvars as bound

from supervisor.logs import setup as logs
from supervisor.logs.flood_filter import OWN_LINES, OWN_LINES_A_MINUTE, SHARED_LINES, FloodFilter
from supervisor.logs.log_file import LogFile
from supervisor.logs.setup import TerminalHandler, configure

SECRET = "sk-verysecretindeed"
log = structlog.get_logger("supervisor.test")  # made before any `configure`, as modules do


@pytest.fixture(autouse=True)
def silent_afterwards() -> Iterator[None]:
    root = logging.getLogger()
    level = root.level
    yield
    for handler in [each for each in root.handlers if isinstance(each, (LogFile, TerminalHandler))]:
        root.removeHandler(handler)
        handler.close()
    logs.silence()
    root.setLevel(level)


class Written:
    def __init__(self, folder: Path, **options: Any) -> None:
        root = logging.getLogger()
        for theirs in root.handlers[:]:  # pytest's own, which raise where ours must not
            root.removeHandler(theirs)
        self.path = folder / "greenroom.log"
        self.logs = configure(self.path, **options)

    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.path.read_text().splitlines()]

    def one(self) -> dict[str, Any]:
        (record,) = self.records()
        return record


def test_a_record_is_one_line_of_json_with_level_time_and_name(tmp_path: Path) -> None:
    written = Written(tmp_path)
    log.info("turn.started", conversation="c1", count=3, took_ms=1.5, path=Path("/a"), note="two\nlines ü")
    record = written.one()
    assert record.pop("ts").endswith("Z")
    assert record == {
        "event": "turn.started",
        "level": "info",
        "logger": "supervisor.test",
        "conversation": "c1",
        "count": 3,
        "took_ms": 1.5,
        "path": "/a",
        "note": "two\nlines ü",
    }


def test_lines_below_the_level_are_not_written(tmp_path: Path) -> None:
    written = Written(tmp_path, level="warning")
    log.info("quiet")
    log.warning("loud")
    assert written.one()["event"] == "loud"


def test_others_are_heard_from_a_warning_on_in_the_same_form(tmp_path: Path) -> None:
    written = Written(tmp_path, level="debug")
    for name in ("httpx", "asyncio", "pykka"):
        logging.getLogger(name).info("chatter")
        logging.getLogger(name).warning("trouble at %s", f"https://x/?api_key={SECRET}")
    assert [(record["logger"], record["level"]) for record in written.records()] == [
        ("httpx", "warning"),
        ("asyncio", "warning"),
        ("pykka", "warning"),
    ]
    assert written.records()[0]["event"] == "trouble at https://x/?api_key=[redacted]"


def test_a_traceback_is_kept_to_its_end(tmp_path: Path) -> None:
    written = Written(tmp_path)
    cause = ValueError("x" * 20_000 + f"the cause, token={SECRET}")
    log.error("turn.failed", exc_info=cause)
    record = written.one()
    assert record["exception"].endswith("the cause, token=[redacted]")
    assert record["level"] == "error"


@dataclass(frozen=True)
class UserMessage:
    text: str


CONTENT = {
    "prompt": "the words",
    "text": "the words",
    "arguments": {"command": ["the words"]},
    "items": [{"text": "the words"}],
    "nested": {"deep": [{"delta": "the words"}]},
    "raw": b"the words",
    "message": UserMessage("the words"),
    "item": UserMessage("the words"),
    "anything": UserMessage("the words"),
}


@pytest.mark.parametrize("level", ["info", "warning", "error"])
def test_words_of_people_and_models_are_not_written_from_info_on(tmp_path: Path, level: str) -> None:
    written = Written(tmp_path, level="debug")
    getattr(log, level)("input.accepted", **CONTENT)
    assert "the words" not in written.path.read_text()
    record = written.one()
    assert (record["prompt"], record["items"], record["raw"]) == ("<9 characters>", "<1 items>", "<9 bytes>")
    assert record["anything"] == "<UserMessage>"


def test_debug_shows_it(tmp_path: Path) -> None:
    written = Written(tmp_path, level="debug")
    log.debug("input.accepted", **CONTENT)
    record = written.one()
    assert record["prompt"] == "the words"
    assert record["anything"] == "UserMessage(text='the words')"
    assert record["raw"] == "<9 bytes>"


@pytest.mark.parametrize("level", ["debug", "info", "error"])
def test_secrets_and_values_of_the_environment_are_written_at_no_level(tmp_path: Path, level: str) -> None:
    written = Written(tmp_path, level="debug")
    fields: dict[str, object] = {
        "headers": {"Authorization": f"Bearer {SECRET}", "X-Auth-Token": "plain-token-text", "accept": "*/*"},
        "api_key": "plain-key-text",
        "tokens": {"a": "plain-token-text", "count": 5},
        "env": {"PATH": "/plain-path", "LANG": "C"},
        "environ": ["PATH=/plain-path"],
        "error": ValueError(f"refused: Authorization: Bearer {SECRET}"),
        "url": f"http://u:{SECRET}@h/",
        "note": f"tried {SECRET}",
        "request": UserMessage(f"api_key={SECRET}"),
    }
    getattr(log, level)(f"request.failed {SECRET}", **fields)
    text = written.path.read_text()
    for hidden in (SECRET, "plain-token-text", "plain-key-text", "plain-path"):
        assert hidden not in text
    record = written.one()
    assert (record["env"], record["tokens"]) == (["LANG", "PATH"], {"a": "[redacted]", "count": 5})
    assert record["headers"]["accept"] == "*/*"


def test_counts_of_tokens_are_no_secrets(tmp_path: Path) -> None:
    written = Written(tmp_path)
    log.info("turn.complete", tokens=1200, input_tokens=7)
    assert (written.one()["tokens"], written.one()["input_tokens"]) == (1200, 7)


def test_an_endless_value_is_cut(tmp_path: Path) -> None:
    written = Written(tmp_path)
    loop: dict[str, object] = {}
    loop["loop"] = loop
    wide = {str(number): "x" * 8_000 for number in range(20)}
    log.info("odd", loop=loop, long="x" * 1_000_000, many=list(range(100_000)), huge=10**6_000)
    log.info("wider", **{f"f{number}": wide for number in range(3)})
    first, second = written.records()
    assert len(first["long"]) < 9_000
    assert len(first["many"]) == 100
    assert second["event"] == "log.record_too_long"
    assert written.logs.failures == 0


def test_bound_context_is_on_every_record_inside_and_gone_outside(tmp_path: Path) -> None:
    written = Written(tmp_path)
    with bound(conversation="c1"), bound(turn="t1"):
        log.info("inside")
        logging.getLogger("httpx").warning("too")
    log.info("outside")
    inside, foreign, outside = written.records()
    assert (inside["conversation"], inside["turn"]) == ("c1", "t1")
    assert (foreign["conversation"], foreign["turn"]) == ("c1", "t1")
    assert "conversation" not in outside


def test_tasks_keep_their_own_context(tmp_path: Path) -> None:
    written = Written(tmp_path)

    async def turn(name: str, both: asyncio.Barrier) -> None:
        with bound(turn=name):
            await both.wait()
            log.info("working", expected=name)

    async def main() -> None:
        both = asyncio.Barrier(2)
        await asyncio.gather(turn("a", both), turn("b", both))

    asyncio.run(main())
    assert sorted((record["turn"], record["expected"]) for record in written.records()) == [("a", "a"), ("b", "b")]


def test_the_file_is_private_even_when_it_was_not(tmp_path: Path) -> None:
    (tmp_path / "greenroom.log").touch()
    (tmp_path / "greenroom.log").chmod(0o644)
    written = Written(tmp_path)
    log.info("x")
    assert stat.S_IMODE(written.path.stat().st_mode) == 0o600


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "greenroom.log").symlink_to(tmp_path / "elsewhere")
    written = Written(tmp_path)
    log.info("x")
    assert not (tmp_path / "elsewhere").exists()
    assert written.logs.failures == 1


@pytest.mark.parametrize("backups", [0, 1, 3])
def test_the_size_is_bounded_and_the_newest_records_are_kept_in_order(tmp_path: Path, backups: int) -> None:
    written = Written(tmp_path, max_bytes=2_000, backups=backups)
    for number in range(200):
        log.info("x", number=number)
    files = sorted(tmp_path.iterdir())
    assert [path.name for path in files] == ["greenroom.log", *(f"greenroom.log.{n}" for n in range(1, backups + 1))]
    assert all(0 < path.stat().st_size <= 2_000 for path in files)
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in files)
    oldest_first = [*files[:0:-1], files[0]]
    numbers = [json.loads(line)["number"] for path in oldest_first for line in path.read_text().splitlines()]
    assert numbers == list(range(numbers[0], 200))
    assert written.logs.failures == 0


def test_a_log_is_continued_after_a_restart(tmp_path: Path) -> None:
    for number in range(2):
        written = Written(tmp_path)
        log.info("x", number=number)
        written.logs.close()
    assert [record["number"] for record in written.records()] == [0, 1]


def test_closed_logs_write_nothing_and_hurt_nobody(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    written = Written(tmp_path)
    written.logs.close()
    log.error("after the end")
    assert not written.path.exists()
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
def test_a_full_disk_is_counted_and_the_caller_goes_on(capfd: pytest.CaptureFixture[str]) -> None:
    full = configure(Path("/dev/full"))
    for _ in range(3):
        log.error("x")
    assert full.failures == 3
    assert capfd.readouterr() == ("", "")


def test_a_directory_that_is_gone_is_counted_and_used_again_when_it_is_back(tmp_path: Path) -> None:
    written = Written(tmp_path / "state")
    log.info("lost")
    assert written.logs.failures == 1
    (tmp_path / "state").mkdir()
    log.info("kept")
    assert written.one()["event"] == "kept"


def test_a_record_that_was_written_in_part_is_taken_back(tmp_path: Path) -> None:
    """A disk that fills up in the middle of a line, made by a limit on the size of a file in a process of its own."""
    program = """
        import resource, signal, structlog, sys
        from pathlib import Path
        from supervisor.logs.setup import configure
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        logs = configure(Path(sys.argv[1]))
        log = structlog.get_logger("supervisor.test")
        log.info("first")
        resource.setrlimit(resource.RLIMIT_FSIZE, (250, resource.RLIM_INFINITY))
        log.info("torn", note="x" * 500)
        log.info("small")
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        log.info("last")
        print(logs.failures)
    """
    path = tmp_path / "x.log"
    run = subprocess.run(
        [sys.executable, "-c", dedent(program), str(path)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[3],
    )
    assert [json.loads(line)["event"] for line in path.read_text().splitlines()] == ["first", "small", "last"]
    assert (run.stdout, run.stderr) == ("1\n", "")


@pytest.mark.parametrize("before", ["", '{"event": "first"}\n'])
def test_half_a_record_of_an_earlier_life_is_dropped(tmp_path: Path, before: str) -> None:
    (tmp_path / "x.log").write_text(f'{before}{{"event": "cut of')
    configure(tmp_path / "x.log")
    log.info("last")
    lines = [json.loads(line)["event"] for line in (tmp_path / "x.log").read_text().splitlines()]
    assert lines == (["first", "last"] if before else ["last"])


@pytest.mark.parametrize("how", ["deleted", "moved", "replaced"])
def test_a_log_that_was_taken_away_is_begun_anew(tmp_path: Path, how: str) -> None:
    path = tmp_path / "x.log"
    configure(path)
    log.info("first")
    if how == "deleted":
        path.unlink()
    else:
        path.rename(tmp_path / "aside")
    if how == "replaced":
        path.write_text("")
    log.info("second")
    assert [json.loads(line)["event"] for line in path.read_text().splitlines()] == ["second"]


def test_a_log_whose_directory_was_moved_goes_with_it(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    logs = configure(tmp_path / "state" / "x.log")
    log.info("first")
    (tmp_path / "state").rename(tmp_path / "moved")
    log.info("second")
    lines = (tmp_path / "moved" / "x.log").read_text().splitlines()
    assert [json.loads(line)["event"] for line in lines] == ["first", "second"]
    assert logs.failures == 0


@pytest.mark.parametrize("error", [RuntimeError, RecursionError, ValueError])
def test_a_value_that_can_not_be_shown_is_counted_and_the_caller_goes_on(
    tmp_path: Path, error: type[Exception]
) -> None:
    class Broken:
        def __repr__(self) -> str:
            raise error("no words")

    written = Written(tmp_path, level="debug", terminal=io.StringIO())
    log.debug("x", value=Broken())
    assert written.logs.failures == 2  # once for each sink
    log.info("fine")
    assert written.one()["event"] == "fine"


def test_a_terminal_gets_text_without_json_colour_or_control_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    screen = io.StringIO()
    configure(None, terminal=screen)
    log.warning("client.connected", client="\x1b[31mred\x9b", prompt="the words")
    text = screen.getvalue()
    assert "client.connected" in text
    assert "\x1b" not in text
    assert "\x9b" not in text
    assert "the words" not in text
    assert "{" not in text


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("no_color", ["", "1"])
def test_colour_is_for_terminals_that_want_it(monkeypatch: pytest.MonkeyPatch, no_color: str) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    screen = Tty()
    configure(None, terminal=screen)
    log.warning("x")
    assert ("\x1b" in screen.getvalue()) == (no_color == "")


def test_a_terminal_that_went_away_is_counted(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w", buffering=1) as screen:
        written = Written(tmp_path, terminal=screen)
        log.warning("x")
        assert written.logs.failures >= 1
        assert written.one()["event"] == "x"
        written.logs.close()
        with pytest.raises(BrokenPipeError):
            screen.flush()
        os.dup2(os.open(os.devnull, os.O_WRONLY), writer)


def test_stdout_is_refused() -> None:
    with pytest.raises(ValueError, match="never go to stdout"):
        configure(None, terminal=sys.stdout)


def test_a_silent_program_prints_nothing_whoever_logs(capfd: pytest.CaptureFixture[str]) -> None:
    logs.silence()
    log.critical("x")
    logging.getLogger("httpx").critical("y")
    assert capfd.readouterr() == ("", "")


def test_configuring_anew_replaces_the_sinks(tmp_path: Path) -> None:
    Written(tmp_path)
    (tmp_path / "b").mkdir()
    second = Written(tmp_path / "b")
    log.info("x")
    assert len(second.records()) == 1
    assert not (tmp_path / "greenroom.log").exists()
    assert len([each for each in logging.getLogger().handlers if isinstance(each, LogFile)]) == 1


def test_many_threads_write_whole_lines_through_rotations(tmp_path: Path) -> None:
    written = Written(tmp_path, max_bytes=20_000, backups=50)
    gate = threading.Barrier(8)

    def work(name: int) -> None:
        gate.wait(timeout=5)  # bounded, so that a thread that never starts is seen here
        for number in range(100):
            log.info("x", agent=str(name), worker=name, number=number)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)  # generous on a busy machine
    lines = [line for path in tmp_path.iterdir() for line in path.read_text().splitlines()]
    seen = {(record["worker"], record["number"]) for record in map(json.loads, lines)}
    assert len(lines) == len(seen) == 800
    assert written.logs.failures == 0


# --- floods: what others can have us log --------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["agent", "server", "client", "conversation", None])
def test_a_flood_of_one_line_leaves_the_rest_of_the_log_and_says_how_many_were_left_out(
    tmp_path: Path, field: str | None
) -> None:
    written = Written(tmp_path, max_bytes=1 << 20, backups=1)
    log.info("agent.did_something", agent="evil")
    for number in range(20_000):
        log.warning("agent.request_refused", **({field: "evil"} if field else {}), method=f"x/{number}")
    log.info("agent.ended", agent="evil")
    records = written.records()
    assert (records[0]["event"], records[-1]["event"]) == ("agent.did_something", "agent.ended")
    assert len(records) == OWN_LINES + 2
    assert written.path.stat().st_size < 100_000


def test_a_flood_under_many_names_is_bounded_as_one(tmp_path: Path) -> None:
    written = Written(tmp_path)
    for number in range(20_000):
        log.info("hello.refused", client=f"evil {number}")
    assert SHARED_LINES <= len(written.records()) <= SHARED_LINES + 60  # a minute, which this does not take


def test_a_library_that_logs_for_others_is_bounded_too(tmp_path: Path) -> None:
    written = Written(tmp_path)
    for number in range(5_000):
        logging.getLogger("mcp.shared").warning("Failed to validate %s", number)
    assert len(written.records()) == OWN_LINES


def test_the_next_line_says_how_many_were_left_out_and_others_are_not_held_up() -> None:
    now = [0.0]
    flood = FloodFilter(lambda: now[0])

    def passes(agent: str) -> logging.LogRecord | None:
        message = {"event": "agent.no_message", "agent": agent}
        record = logging.LogRecord("supervisor", logging.INFO, "", 1, message, None, None)
        return record if flood.filter(record) else None

    assert sum(passes("evil") is not None for _ in range(1_000)) == OWN_LINES
    assert passes("polite") is not None
    now[0] += 60.0 / OWN_LINES_A_MINUTE
    told = passes("evil")
    assert told is not None
    assert told.msg == {"event": "agent.no_message", "agent": "evil", "left_out": 1_000 - OWN_LINES}
    assert passes("evil") is None
