"""A connection to a server: started once, shared, ended, started anew; and a call, whatever the server does."""

import asyncio
import json
from pathlib import Path

import pytest

from supervisor.agents.own.mcp_client.failures import CallFailed, Ended, ServerTimedOut, Unavailable
from supervisor.agents.own.mcp_client.offered_tools import DESCRIPTION
from tests.supervisor.agents.own.mcp_client.host import Host, Listening, host, text_of, within
from tests.supervisor.work.commands import ON_LINUX, until

pytestmark = ON_LINUX


async def pid_of(one: Host, **env: str) -> int:
    connection = one.scripted(env=env or None)
    return int(json.loads(text_of(await connection.call("environment", {}, Listening())))["pid"])


def test_conversations_with_the_same_environment_share_a_server_and_others_have_their_own(tmp_path: Path) -> None:
    async def work() -> None:
        async with host(tmp_path) as one:
            first, second = await asyncio.gather(pid_of(one), pid_of(one))
            assert first == second
            assert await pid_of(one, PATH="/usr/bin", LANG="C") != first
            assert one.processes.statistics()["running"] == 2

    within(work)


def test_a_server_gets_the_core_variables_those_that_are_named_and_its_own(tmp_path: Path) -> None:
    async def work() -> None:
        async with host(tmp_path) as one:
            client = {"PATH": "/usr/bin:/bin", "HOME": "/h", "GH_TOKEN": "t", "OPENAI_API_KEY": "sk"}
            server = one.scripted(env=client, env_vars=("GH_TOKEN",))
            told = json.loads(text_of(await server.call("environment", {}, Listening())))
            ours = {name for name in told["env"] if name.startswith("GREENROOM_")}
            assert set(told["env"]) - ours - {"LC_CTYPE"} == {"PATH", "HOME", "GH_TOKEN"}
            assert told["cwd"] == "/"

    within(work)


def test_a_server_that_is_not_used_for_a_while_is_ended_and_started_anew(tmp_path: Path) -> None:
    async def work() -> None:
        async with host(tmp_path, idle_s=0.05) as one:
            first = await pid_of(one)
            await until(lambda: one.connections.statistics()["mcp_servers"] == 0)
            assert await pid_of(one) != first

    within(work)


def test_a_server_that_never_answers_is_given_up_in_time_and_not_retried_at_once(tmp_path: Path) -> None:
    async def work() -> None:
        async with host(tmp_path) as one:
            server = one.scripted("mute", startup_timeout_sec=0.2)
            with pytest.raises(Unavailable, match=r"not ready within 0\.2 s"):
                await server.tools()
            await until(lambda: one.processes.statistics()["running"] == 0 and not server.busy)
            with pytest.raises(Unavailable, match="it is started again in 30 s"):
                await server.tools()

    within(work)


def test_a_server_that_ends_at_its_start_is_told_with_its_last_words(tmp_path: Path) -> None:
    async def work() -> None:
        async with host(tmp_path) as one:
            with pytest.raises(Unavailable, match="ended with status 4, and said last: no licence"):
                await one.scripted("dies").tools()

    within(work)


def test_a_greeting_on_stdout_and_lines_that_are_no_json_are_passed_over(tmp_path: Path) -> None:
    async def work() -> None:
        async with host(tmp_path) as one:
            assert text_of(await one.scripted("greets").call("garbage", {}, Listening())) == "after garbage"

    within(work)


def test_a_server_that_dies_in_a_call_ends_the_call_and_is_started_anew_by_the_next(tmp_path: Path) -> None:
    async def work() -> None:
        async with host(tmp_path) as one:
            server, caller = one.scripted(), Listening()
            with pytest.raises(Ended, match="status 3, and said last: I have had enough"):
                await server.call("die", {}, caller)
            assert "the next call starts it anew" in caller.notices[0]
            assert text_of(await server.call("echo", {"text": "back"}, caller)) == "back"

    within(work)


def test_a_server_that_dies_again_and_again_is_left_alone_for_a_while(tmp_path: Path) -> None:
    async def work() -> None:
        async with host(tmp_path) as one:
            server = one.scripted()
            for _ in range(2):
                with pytest.raises(Ended):
                    await server.call("die", {}, Listening())
            with pytest.raises(Unavailable, match=r"it is started again in [01] s"):
                await server.call("echo", {}, Listening())

    within(work)


def test_a_message_beyond_the_bound_ends_the_server_and_not_the_daemon(tmp_path: Path) -> None:
    async def work() -> None:
        async with host(tmp_path) as one:
            with pytest.raises(Ended, match="too long"):
                await one.scripted().call("flood", {"megabytes": 8}, Listening())

    within(work)


def test_a_cancelled_call_is_over_at_once_and_the_server_is_told(tmp_path: Path) -> None:
    async def work() -> None:
        async with host(tmp_path) as one:
            server = one.scripted()
            await server.tools()
            call = asyncio.create_task(server.call("sleep", {}, Listening()))
            await until(lambda: server.busy)
            await asyncio.sleep(0.05)  # it is on its way to the server
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            assert len(json.loads(text_of(await server.call("cancellations", {}, Listening())))) == 1

    within(work)


def test_a_call_that_takes_too_long_is_ended_and_says_how_to_allow_more(tmp_path: Path) -> None:
    async def work() -> None:
        async with host(tmp_path) as one:
            server = one.scripted(tool_timeout_sec=0.1)
            with pytest.raises(
                ServerTimedOut, match=r"within 0.1 s; a person can raise mcp_servers\.s\.tool_timeout_sec"
            ):
                await server.call("sleep", {}, Listening())
            assert text_of(await server.call("echo", {"text": "still here"}, Listening())) == "still here"

    within(work)


def test_a_tool_that_is_not_there_is_a_failure_of_the_call(tmp_path: Path) -> None:
    async def work() -> None:
        async with host(tmp_path) as one:
            with pytest.raises(CallFailed, match="no tool nothing"):
                await one.scripted().call("nothing", {}, Listening())

    within(work)


def test_a_changed_list_of_tools_is_read_anew(tmp_path: Path) -> None:
    async def work() -> None:
        async with host(tmp_path) as one:
            server = one.scripted()
            assert "late" not in [tool.name for tool in await server.tools()]
            await server.call("more_tools", {}, Listening())
            assert "late" in [tool.name for tool in await server.tools()]

    within(work)


def test_progress_is_told_to_the_call_that_makes_it(tmp_path: Path) -> None:
    async def work() -> None:
        async with host(tmp_path) as one:
            caller, other = Listening(), Listening("two")
            await asyncio.gather(one.scripted().call("progress", {}, caller), one.scripted().call("echo", {}, other))
            assert caller.steps == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]
            assert other.steps == []

    within(work)


def test_a_question_goes_to_the_call_under_way_and_its_time_does_not_count(tmp_path: Path) -> None:
    async def work() -> None:
        async with host(tmp_path) as one:
            server, caller = one.scripted(tool_timeout_sec=0.3), Listening()
            await server.tools()
            caller.gate.clear()
            call = asyncio.create_task(server.call("ask", {}, caller))
            await caller.asked.wait()
            await asyncio.sleep(0.5)  # longer than a call may take
            caller.gate.set()
            answer = json.loads(text_of(await call))
            assert answer["action"] == "accept"
            assert answer["content"] == {"colour": "red"}
            assert caller.questions[0]["message"] == "Which colour?"

    within(work)


def test_a_question_while_two_conversations_use_the_server_is_put_to_neither_and_both_are_told(
    tmp_path: Path,
) -> None:
    async def work() -> None:
        async with host(tmp_path) as one:
            server, first, second = one.scripted(), Listening("one"), Listening("two")
            await server.tools()
            waiting = asyncio.create_task(server.call("sleep", {}, first))
            await until(lambda: server.busy)
            answer = json.loads(text_of(await server.call("ask", {}, second)))
            assert answer["action"] == "cancel"
            assert first.questions == second.questions == []
            assert "nobody knows whom" in first.notices[0] == second.notices[0]
            waiting.cancel()
            await asyncio.wait({waiting})
            assert json.loads(text_of(await server.call("ask", {}, second)))["action"] == "accept"

    within(work)


def test_a_server_that_asks_without_end_is_heard_a_few_times_and_one_by_one(tmp_path: Path) -> None:
    async def work() -> None:
        async with host(tmp_path) as one:
            server, caller = one.scripted(), Listening()
            caller.gate.clear()
            call = asyncio.create_task(server.call("ask_often", {"times": 300}, caller))
            await until(lambda: len(caller.notices) == 1)
            assert len(caller.questions) == 1
            caller.gate.set()
            answers = json.loads(text_of(await call))
            assert sorted(answers) == ["accept"] * 10 + ["cancel"] * 290
            assert len(caller.questions) == 10
            assert "asked more than 10 times in one call" in caller.notices[0]

    within(work)


def test_of_a_list_of_tools_so_much_is_kept_as_models_are_offered(tmp_path: Path) -> None:
    async def work() -> None:
        async with host(tmp_path) as one:
            server = one.scripted()
            before = len(await server.tools())
            await server.call("huge_tools", {"characters": 500_000}, Listening())
            tools = await server.tools()
            assert (len(tools), tools[-1].name) == (before + 1, "huge")
            assert len(tools[-1].description) == DESCRIPTION
            assert tools[-1].schema["properties"] == {"a": {"type": "string"}}

    within(work)
