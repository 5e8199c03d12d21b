"""The test model's script language: a tool that lies would let every test of the agent pass."""

import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.support.model_prompt import asked, wire_of
from tests.support.model_reply import Close, End, Hold, Pause, Reply, Write
from tests.support.model_script import Place, compiled, parse
from tests.support.model_server import ModelServer

ROOT = Path(__file__).resolve().parents[2]


def verbs(script: str) -> list[list[str]]:
    return [[directive.verb for directive in reply] for reply in parse(script)]


def sent(reply: Reply) -> bytes:
    return b"".join(step.data for step in reply.steps if isinstance(step, Write))


def test_directives_are_parted_by_lines_and_semicolons_but_not_inside_quotes() -> None:
    assert verbs('say a; say b\ncall shell ["bash", "-c", "a; b \\"c; d\\""]; usage 1 2') == [
        ["say", "say", "call", "usage"]
    ]


def test_then_begins_the_next_reply_and_words_are_no_directives() -> None:
    assert verbs("Please do this:\ncall shell []\nthen\nsay done") == [["call"], ["say"]]
    assert verbs("just words") == []


def test_a_prompt_without_directives_is_echoed_and_past_the_last_reply_it_is_ok() -> None:
    assert b'"echo: just words"' in sent(compiled("just words", "chat", Place()))
    assert b'"ok"' in sent(compiled("say a", "chat", Place(reply=1)))


def test_troubles_hold_for_their_times_and_are_then_left_out() -> None:
    script = "status 500 times=2; drop; say hi"
    replies = [compiled(script, "chat", Place(attempt=attempt)) for attempt in range(4)]
    assert [reply.status for reply in replies] == [500, 500, 0, 200]


def test_cut_closes_after_so_many_bytes_of_events() -> None:
    whole = compiled("say hello; usage 1 2", "responses", Place())
    cut = compiled("cut 50 times=all; say hello; usage 1 2", "responses", Place())
    assert isinstance(whole.steps[-1], End)
    assert isinstance(cut.steps[-1], Close)
    assert sent(cut).endswith(b"\r\n")
    assert len(sent(cut)) == 50 + len(b"32\r\n\r\n")


def test_split_writes_chunks_of_that_size_and_pack_of_at_least_that() -> None:
    split = [step for step in compiled("split 3; say hello", "chat", Place()).steps if isinstance(step, Write)]
    assert {step.data[:3] for step in split[:-1]} == {b"3\r\n"}
    assert sent(compiled("pack 100000; stream 50", "chat", Place())).count(b"\r\n") == 2


def test_pauses_and_gates_are_where_they_were_written() -> None:
    steps = compiled("say a; hold x; say b; stall 2; slow 5; words c d; stall forever", "chat", Place()).steps
    assert [step for step in steps if not isinstance(step, Write)][:2] == [Hold("x"), Pause(2.0)]
    assert [step for step in steps if isinstance(step, Pause)].count(Pause(0.005)) == 4
    assert Pause(None) in steps


def test_the_reply_is_found_by_the_call_ids_of_the_outputs_after_the_prompt() -> None:
    old = [{"role": "user", "content": "one"}, {"role": "tool", "tool_call_id": "call_1_4_0", "content": ""}]
    now = [{"role": "user", "content": "<environment_context>x"}, {"role": "user", "content": [{"text": "two"}]}]
    body = {"messages": [*old, *now]}
    assert (asked("chat", body).text, asked("chat", body).reply) == ("two", 0)
    body["messages"].append({"role": "tool", "tool_call_id": "call_3_0_1", "content": ""})
    assert asked("chat", body).reply == 1
    output = {"type": "function_call_output", "call_id": "call_1_1_0", "output": ""}
    message = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]}
    assert asked("responses", {"input": [message, output]}).reply == 2


def test_only_the_paths_of_the_wires_are_served() -> None:
    assert [wire_of(path) for path in ("/v1/chat/completions?a=b", "/responses", "/v1/models")] == [
        "chat",
        "responses",
        None,
    ]
    with ModelServer() as server:
        assert httpx.post(f"{server.base_url}/models", json={}, trust_env=False).status_code == 404


def test_a_request_too_many_for_the_replies_fails_the_test() -> None:
    def ask() -> None:
        with ModelServer([]) as server:
            httpx.post(f"{server.base_url}/responses", json={"input": []}, trust_env=False)

    with pytest.raises(AssertionError, match="request 1 has no reply"):
        ask()


def test_a_script_that_makes_no_sense_fails_the_test() -> None:
    def ask() -> None:
        body = {"messages": [{"role": "user", "content": "stream many"}]}
        with ModelServer() as server, pytest.raises(httpx.RemoteProtocolError):
            httpx.post(f"{server.base_url}/chat/completions", json=body, trust_env=False)

    with pytest.raises(AssertionError, match="ValueError"):
        ask()


def test_it_runs_by_hand() -> None:
    command = [sys.executable, "-m", "tests.support.model_server", "--script", "say by hand"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        base_url = process.stdout.readline().strip()
        answer = httpx.post(f"{base_url}/chat/completions", json={"messages": []}, trust_env=False)
        process.terminate()
    assert "by hand" in answer.text
    assert process.returncode == 0
