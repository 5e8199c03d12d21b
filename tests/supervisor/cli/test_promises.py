"""Promises of the command line that the tests of single verbs do not prove."""

import json
import time
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import pytest

from greenroom.answers import ClientRow, ConversationRow
from greenroom.methods import Listed
from supervisor.cli import checks
from supervisor.cli.top import Sample
from supervisor.cli.topics import TOPICS
from supervisor.cli.verbs import VERBS
from supervisor.cli.verbs.options import LISTING, STATES
from supervisor.version import VERSION
from tests.supervisor.cli.place import Place, until
from tests.support.standstill import standing_still

NAMES = {
    "up", "down", "status", "ls", "run", "send", "attach", "logs", "events", "interrupt", "restart", "approvals",
    "approve", "deny", "wait", "inspect", "rename", "fork", "archive", "rm", "export", "import", "clients", "top",
    "pid", "socket", "version", "df", "config", "reload", "doctor", "mcp", "service", "completion", "help", "demo",
    "search", "skills", "jobs", "set", "agents", "mcp-servers", "compact", "queue", "usage", "budget",
    "worktree", "login", "acp", "schema",
}  # fmt: skip
ALIASES = {"shutdown": "down", "ps": "ls", "fg": "attach", "tail": "logs", "stop": "interrupt"}
ALIASES |= {"mcp-server": "mcp"}


def test_every_verb_is_there_under_every_name_that_fingers_know() -> None:
    assert {verb.name for verb in VERBS} == NAMES
    assert {alias: verb.name for verb in VERBS for alias in verb.aliases} == ALIASES


def test_every_listing_verb_takes_the_same_options() -> None:
    listing = {verb.name for verb in VERBS if set(LISTING) <= set(verb.opts)}
    assert listing == {
        "status",
        "ls",
        "approvals",
        "clients",
        "df",
        "skills",
        "jobs",
        "agents",
        "mcp-servers",
        "queue",
        "usage",
        "budget",
        "worktree",
    }


@pytest.mark.parametrize(
    "verb", ["status", "ls", "approvals", "clients", "df", "skills", "agents", "mcp-servers", "worktree"]
)
def test_an_unknown_field_is_answered_with_the_known_ones(place: Place, verb: str) -> None:
    told = place.run(verb, "--json", "nonsense", code=2).stderr
    message = json.loads(told)["error"]["message"]
    assert message.startswith("unknown field 'nonsense'; write one of ")
    known = message.partition("write one of ")[2].split(", ")
    rows = place.json(verb, "--json", ",".join(known[:2]))
    assert all(set(row) == set(known[:2]) for row in (rows["conversations"] if verb == "status" else rows))


def test_a_state_is_one_word_of_eleven() -> None:
    here = ("starting", "idle", "running", "waiting", "interrupting", "parked")
    assert (*here, "failed", "denied", "lost", "over-budget", "archived") == STATES


def test_verbs_that_need_no_daemon_start_none(quiet: Place) -> None:
    for words in (
        ("version",), ("socket",), ("df",), ("config", "path"), ("config", "check"), ("doctor",), ("help",),
        ("completion", "zsh"), ("service", "status"), ("service", "install", "--print"), ("down",), ("shutdown",),
        ("schema", "events"), ("__complete", "attach", ""),
    ):  # fmt: skip
        quiet.run(*words, code=None)
        assert not (quiet.home / "run" / "greenroom.sock").exists(), words
        quiet.run("ls", code=7)


@pytest.mark.parametrize("topic", TOPICS)
def test_every_topic_fits_a_screen_and_has_something_to_say(place: Place, topic: str) -> None:
    lines = place.run("help", topic).stdout.splitlines()
    assert 3 < len(lines) < 40
    assert max(map(len, lines)) <= 100


# --- conversations --------------------------------------------------------------------------------------------------


def test_run_takes_its_prompt_from_a_pipe_and_its_settings_from_its_options(quiet: Place) -> None:
    config = 'model_provider = "demo"\n[profiles.careful]\napproval_policy = "untrusted"\nmodel = "slow"\n'
    (quiet.home / "config.toml").write_text(config, encoding="utf-8")
    words = ("--name", "piped", "--profile", "careful", "-m", "quick", "--sandbox", "workspace-write")
    assert quiet.run("run", *words, "-", text="say from a pipe").stdout == "from a pipe\n"
    template = "{settings.model} {settings.approval_policy} {settings.sandbox.mode}"
    assert quiet.said("inspect", "piped", "--format", template) == "quick untrusted workspace-write"
    assert set(quiet.json("run", "-d", "--json", "say x")) == {"conversation"}


def test_attach_begins_at_a_seq_at_the_beginning_or_now(place: Place) -> None:
    conversation = place.new("say first words")
    place.at_rest(conversation)
    for since, expected in (("all", 1), ("3", 4), ("now", None)):
        reader = place.begin("attach", conversation, "--ro", "--json", "--from", since)
        until(partial(is_read_by, place, conversation, reader.pid))
        seen = int(place.said("inspect", conversation, "--format", "{seq}"))
        place.run("send", conversation, "say more", "--wait")
        assert reader.stdout is not None
        events = (json.loads(line) for line in iter(reader.stdout.readline, ""))
        assert next(event["seq"] for event in events if event["seq"]) == (expected or seen + 1)
        reader.terminate()
        reader.communicate(timeout=20)


def is_read_by(place: Place, conversation: str, pid: int) -> bool:
    rows = place.json("clients", "--json", "pid,attached")
    return any(row["pid"] == pid and conversation in json.dumps(row["attached"]) for row in rows)


def test_one_character_is_no_prefix(place: Place) -> None:
    conversation = place.new("say x")
    place.at_rest(conversation)
    assert "no conversation" in place.run("status", conversation[:1], code=5).stderr
    place.run("status", conversation[:8])


def test_a_fork_at_a_seq_knows_what_was_before_it(place: Place) -> None:
    original = place.new("say one", "--name", "forked")
    place.at_rest(original)
    at = place.said("inspect", "forked", "--format", "{seq}")
    place.run("send", "forked", "say two", "--wait")
    fork = place.said("fork", "forked", "--at", at)
    told = place.run("logs", fork).stdout
    assert "one" in told
    assert "two" not in told


def test_logs_page_on_a_terminal_where_they_are_longer_than_it(place: Place) -> None:
    place.at_rest(place.new("run seq 20", "--name", "long", "--sandbox", "danger-full-access"))
    place.env["PAGER"] = "sed s/^/paged:/"
    try:
        terminal = place.terminal("logs", "long", "--raw", rows=10)
        terminal.end()
    finally:
        del place.env["PAGER"]
    assert "paged:" in terminal.screen


def test_nothing_spins_in_a_pipe(place: Place) -> None:
    done = place.run("run", "run sleep 0.5; then say done sleeping", "--sandbox", "danger-full-access")
    assert not set("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏\r\x1b") & set(done.stdout + done.stderr)


# --- approvals ------------------------------------------------------------------------------------------------------


def test_several_approvals_are_listed_oldest_first_and_answered_at_once(place: Place) -> None:
    asking = [place.asking(), place.asking()]
    rows = [row for row in place.json("approvals", "--json") if row["conversation"] in asking]
    assert [row["conversation"] for row in rows] == asking
    place.run("approve", *(row["id"] for row in rows))
    for conversation in asking:
        place.run("wait", conversation, "-t", "15", code=0)


def test_watched_approvals_show_what_comes(place: Place) -> None:
    terminal = place.terminal("approvals", "--watch", columns=120)
    terminal.expect("no open approvals")
    conversation = place.asking()
    terminal.expect(conversation[:8])
    terminal.send("\x03")
    assert terminal.end() == 130
    place.run("interrupt", conversation)


# --- around it ------------------------------------------------------------------------------------------------------


def test_completion_waits_for_no_daemon_that_hangs(quiet: Place) -> None:
    quiet.run("up")
    quiet.at_rest(quiet.new("say x", "--name", "there"))
    with standing_still(quiet.pid()):
        began = time.monotonic()
        offered = quiet.run("__complete", "attach", "").stdout.split("\n")
        took_s = time.monotonic() - began
    assert {line.partition("\t")[0] for line in offered} == {"@last", "@here", ""}
    assert took_s < 2.0  # 0.15 s for each of its two waits, on an idle machine


def test_the_doctor_sees_a_daemon_of_another_version() -> None:
    installation = SimpleNamespace(control=SimpleNamespace(welcome={"version": "0.0.7"}))
    (found,) = checks.version(cast("Any", installation))
    assert found == (f"the daemon is 0.0.7, this program {VERSION}", "`greenroom down && greenroom up`", True)


class Growing:
    """A daemon with one conversation, which has thirty more events at each look."""

    def __init__(self) -> None:
        self.seq = 0

    def conversations(self, **_: object) -> Listed:
        self.seq += 30
        known: dict[str, Any] = dict.fromkeys(ConversationRow.members, "")
        return Listed([ConversationRow(**{**known, "state": "running", "updated": 0.0, "seq": self.seq})], 1)

    def conversations_by_id(self, _: object) -> list[ConversationRow]:
        return []

    def status(self) -> SimpleNamespace:
        return SimpleNamespace()

    def clients(self) -> list[ClientRow]:
        return []

    def call(self, _: str) -> dict[str, Any]:
        return {"approvals": []}


def test_top_tells_events_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("supervisor.cli.top.time.monotonic", lambda: now[0])
    sample = Sample(cast("Any", Growing()))
    sample.take()
    assert sample.rows[0]["rate"] == 0
    now[0] += 2.0
    sample.take()
    assert sample.rows[0]["rate"] == 15
