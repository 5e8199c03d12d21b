"""Every exit code of the table, one by one, on a real daemon."""

import json
import signal
import subprocess
import sys

import pytest

from supervisor.cli.kit import exits
from tests.supervisor.cli.place import Place
from tests.support.bridge import wait_until


def test_0_done(place: Place) -> None:
    place.run("ls", code=0)


def test_1_failed(place: Place) -> None:
    conversation = place.new("say x")
    done = place.run("export", conversation, "/nowhere/at/all", code=1)
    assert "can't be written" in done.stderr


@pytest.mark.parametrize(
    "words",
    [("nonsense",), ("ls", "--nonsense"), ("ls", "--json", "nonsense"), ("ls", "--filter", "a=b"), ("attach",),
     ("wait", "x", "-t", "soon"), ("interrupt",), ("run", ""), ("ls", "--filter", "state=wrong")],
)  # fmt: skip
def test_2_wrong_usage(place: Place, words: tuple[str, ...]) -> None:
    done = place.run(*words, code=2)
    assert done.stderr.startswith("greenroom: ") or "--json" in words
    assert len(done.stderr.splitlines()) == 1


def test_3_something_is_not_well_until_it_is_given_a_new_life(place: Place) -> None:
    place.at_rest(place.new("say fine", "--name", "well"))
    broken = place.failed("broken")
    place.run("status", "well", "--check", code=0)
    place.run("status", broken, "--check", code=3)
    place.run("status", "--check", code=3)
    assert "failed: it fell over" in place.run("logs", broken).stdout
    place.run("restart", broken)
    place.run("status", broken, "--check", code=0)


def test_4_not_allowed(quiet: Place) -> None:
    run = quiet.home / "run"
    run.mkdir()
    run.chmod(0o777)
    done = quiet.run("ls", code=4)
    assert "may be written by others" in done.stderr


def test_5_no_such_conversation_with_near_matches(place: Place) -> None:
    place.new("say x", "--name", "billing")
    done = place.run("status", "biling", code=5)
    assert done.stderr == "greenroom: no conversation 'biling'; did you mean billing?\n"


def test_6_refused_because_busy(place: Place) -> None:
    conversation = place.new("count 500")
    done = place.run("send", conversation, "say no", "--if-busy", "reject", code=6)
    assert " is running; `greenroom wait` waits until it has ended" in done.stderr
    place.run("interrupt", conversation)


def test_6_refused_because_somebody_answered_already(place: Place) -> None:
    conversation = place.asking()
    (approval,) = place.json("approvals", conversation, "--json")
    place.run("deny", approval["id"])
    assert "was already denied by greenroom deny" in place.run("approve", approval["id"][:8], code=6).stderr
    assert "already denied by greenroom deny" in place.run("approve", approval["id"], code=6).stderr


def test_8_overloaded_is_refused_with_what_to_do(quiet: Place) -> None:
    """As many conversations are live, and as many messages wait, as the config allows."""
    (quiet.home / "config.toml").write_text(
        'model_provider = "demo"\n[greenroom.limits]\nlive_sessions = 1\nqueue_length = 1\n', encoding="utf-8"
    )
    quiet.run("up")
    quiet.new("count 5000", "--name", "only")
    told = quiet.run("run", "-d", "say x", code=8)
    assert told.stderr == (
        "greenroom: 1 conversations are live and none is idle (greenroom.limits.live_sessions); "
        "try again when a turn has ended\n"
    )
    quiet.run("send", "only", "say x", "--if-busy", "enqueue")
    told = quiet.run("send", "only", "say y", "--if-busy", "enqueue", "--json", code=8)
    assert json.loads(told.stderr)["error"]["code"] == "queue_full"


def test_10_the_turn_ended_in_an_error(place: Place) -> None:
    """The provider lacks its key, so the turn fails at its first request."""
    place.run("run", "hello", "-c", "model_provider=openai", code=10)


def test_11_interrupted(place: Place) -> None:
    conversation = place.new("say x", "--name", "eleven")
    place.at_rest(conversation)
    waiting = place.begin("send", "eleven", "--wait", "count 500")
    wait_until(lambda: place.said("inspect", "eleven", "--format", "{state}") == "running", "no turn began")
    place.run("interrupt", "eleven")
    _, told = waiting.communicate(timeout=20)
    assert waiting.returncode == 11, told
    assert place.run("wait", "eleven", code=11).stdout == "eleven: interrupted\n"


def test_13_denied(place: Place) -> None:
    conversation = place.asking()
    waiting = place.begin("wait", conversation)
    place.run("deny", conversation, "--reason", "not today")
    waiting.communicate(timeout=20)
    assert waiting.returncode == 13


def test_13_also_where_the_denial_ended_the_turn(place: Place) -> None:
    conversation = place.asking()
    place.run("deny", conversation, "--abort")
    place.run("wait", conversation, code=13)


def test_75_some_targets_failed(place: Place) -> None:
    conversation = place.new("say x")
    place.at_rest(conversation)
    done = place.run("interrupt", conversation, "no-such-thing", code=75)
    assert "nothing was running" in done.stdout
    assert "no conversation 'no-such-thing'" in done.stderr


def test_124_timed_out(place: Place) -> None:
    conversation = place.asking()
    done = place.run("wait", conversation, "-t", "200ms", code=124)
    assert "timed out waiting for the turn to end" in done.stderr
    place.run("interrupt", conversation)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, exits.CTRL_C), (signal.SIGTERM, exits.TERMINATED)])
def test_130_and_143_the_client_was_stopped_and_the_conversation_goes_on(
    place: Place, number: signal.Signals, code: int
) -> None:
    name = f"stopped-{code}"
    client = place.begin("run", "--name", name, "count 500")
    assert client.stderr is not None
    assert "> count" in client.stderr.readline() + client.stderr.readline()
    client.send_signal(number)
    _, told = client.communicate(timeout=20)
    assert client.returncode in {code, -number}
    assert "the conversation goes on" in told
    assert place.said("inspect", name, "--format", "{state}") == "running"
    place.run("interrupt", name)


def test_a_reader_that_has_gone_ends_us_like_other_programs(place: Place) -> None:
    for _ in range(3):
        place.new("say x")
    words = " ".join(["exec", *(f"'{word}'" for word in ("python3", "-m", "supervisor.cli.app"))])
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; ({words.replace('python3', sys.executable)} help attach; exit $?) | true"],
        env=place.env,
        capture_output=True,
        text=True,
        check=False,
        timeout=20,
    )
    assert "Traceback" not in done.stderr
    assert done.returncode in {0, 141}


DOWN = (
    "ls", "status", "pid", "reload", "config get", "send x y", "attach x", "logs x", "events", "inspect x",
    "top", "interrupt x", "wait x", "approvals", "approve x", "deny x", "restart x", "rename x y", "fork x",
    "archive x", "rm -f x", "export x", "import FILE", "clients",
)  # fmt: skip


def test_7_every_verb_says_so_when_the_daemon_is_down_and_none_starts_it(quiet: Place) -> None:
    (quiet.work / "FILE").write_text("{}\n", encoding="utf-8")
    for line in DOWN:
        told = quiet.run(*line.split(), code=7)
        assert told.stderr == "greenroom: the daemon is not running; `greenroom up` starts it\n", line
        assert told.stdout == "", line
    assert not (quiet.home / "run").exists()


def test_an_error_is_an_object_for_programs(quiet: Place) -> None:
    done = quiet.run("ls", "--json", code=7)
    assert done.stderr == (
        '{"error": {"code": "daemon_down", "message": "the daemon is not running; `greenroom up` starts it"}}\n'
    )


@pytest.mark.parametrize(
    ("code", "exit_"),
    [("overloaded", 8), ("queue_full", 8), ("busy", 6), ("not_allowed", 4), ("storage_full", 1), ("timed_out", 124)],
)
def test_an_error_of_the_daemon_has_its_exit_code(code: str, exit_: int) -> None:
    assert exits.EXIT_BY_CODE.get(code, exits.FAILED) == exit_


def test_every_exit_code_in_use_has_its_meaning() -> None:
    used = {
        *exits.EXIT_BY_CODE.values(),
        *exits.EXIT_BY_ENDING.values(),
        exits.NOT_WELL,
        exits.CTRL_C,
        exits.TERMINATED,
    }
    assert used <= set(exits.MEANINGS)
