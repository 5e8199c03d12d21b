"""Tasks of the extension: begun, looked at, answered and ended, by any client of any daemon of the home."""

from typing import Any

import pytest

from actors.messages.orders import ModelFailed
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.settings import Decision
from tests.transports.dialects.mcp.daemon import Daemon
from tests.transports.dialects.mcp.peer import Json, StatelessClient
from tests.transports.dialects.mcp.steps import began, nothing_open, text_of, wants_to_run

ACCEPT: Json = {"action": "accept", "content": {}}


def begun(daemon: Daemon, client: StatelessClient, request: int = 1) -> tuple[ConversationId, str]:
    """A `codex` call, which is a task."""
    conversation = began(daemon, client, request)
    result = client.answer(request)["result"]
    assert (result["resultType"], result["status"], result["ttlMs"]) == ("task", "working", None)
    assert "result" not in result
    task: str = result["taskId"]
    return conversation, task


def looked_at(client: StatelessClient, task: str) -> Json:
    result: Json = client.ask("tasks/get", {"taskId": task})["result"]
    assert (result["resultType"], result["taskId"]) == ("complete", task)
    return result


def test_a_call_of_a_client_that_knows_tasks_is_answered_at_once_and_its_turn_goes_on() -> None:
    daemon = Daemon()
    client = StatelessClient(daemon, tasks=True)
    conversation, task = begun(daemon, client)
    assert nothing_open(client)
    assert looked_at(client, task)["status"] == "working"
    daemon.finish(conversation, "Done")
    daemon.settle()
    now = looked_at(client, task)
    assert now["status"] == "completed"
    assert text_of(now["result"]) == "Done"
    assert now["result"]["structuredContent"]["threadId"] == conversation


def test_a_client_that_does_not_know_tasks_waits_for_the_end_and_may_not_ask_for_them() -> None:
    daemon = Daemon()
    client = StatelessClient(daemon)
    began(daemon, client, 1)
    assert client.answers(1) == []
    wanted: Json = {"taskId": "x", "inputResponses": {}}
    for name in ("tasks/get", "tasks/update", "tasks/cancel"):
        error = client.ask(name, wanted)["error"]
        assert error["code"] == -32021
        assert error["data"]["requiredCapabilities"] == {"extensions": {"io.modelcontextprotocol/tasks": {}}}
    listening = client.ask("subscriptions/listen", {"notifications": {"taskIds": ["x"]}})
    assert listening["error"]["code"] == -32021


def test_another_client_of_the_next_daemon_reads_how_a_task_ended() -> None:
    daemon = Daemon()
    conversation, task = begun(daemon, StatelessClient(daemon, tasks=True))
    daemon.finish(conversation, "Done")
    daemon.settle()
    later = StatelessClient(Daemon(daemon.journal), "c9", tasks=True)
    assert text_of(looked_at(later, task)["result"]) == "Done"


def test_a_question_of_a_task_is_in_what_is_read_of_it_and_an_update_answers_it() -> None:
    daemon = Daemon()
    client = StatelessClient(daemon, tasks=True)
    conversation, task = begun(daemon, client)
    approval = wants_to_run(daemon, conversation)
    now = looked_at(client, task)
    assert now["status"] == "input_required"
    assert now["inputRequests"].keys() == {approval}
    given = {"taskId": task, "inputResponses": {approval: ACCEPT, "stranger": ACCEPT}}
    assert client.ask("tasks/update", given)["result"].keys() == {"resultType", "_meta"}
    assert [one.decision for one in daemon.answered] == [Decision.APPROVED]
    assert looked_at(client, task)["status"] == "working"
    assert "result" in client.ask("tasks/update", given)  # what is not asked any more means nothing
    assert len(daemon.answered) == 1


def test_a_question_that_a_client_can_t_show_is_denied_after_a_while() -> None:
    daemon = Daemon()
    client = StatelessClient(daemon, tasks=True, elicits=False)
    conversation, task = begun(daemon, client)
    wants_to_run(daemon, conversation)
    now = looked_at(client, task)
    assert (now["status"], "waiting for an approval" in now["statusMessage"]) == ("working", True)
    daemon.advance(1_000)
    assert [one.decision for one in daemon.answered] == [Decision.DENIED]


def test_a_cancelled_task_is_interrupted_and_says_so() -> None:
    daemon = Daemon()
    client = StatelessClient(daemon, tasks=True)
    conversation, task = begun(daemon, client)
    for _ in range(2):
        assert client.ask("tasks/cancel", {"taskId": task})["result"].keys() == {"resultType", "_meta"}
    assert conversation not in daemon.turns
    now = looked_at(client, task)
    assert (now["status"], "result" in now) == ("cancelled", False)


def test_a_message_that_waits_is_a_task_that_can_be_withdrawn_and_the_running_one_goes_on() -> None:
    daemon = Daemon()
    client = StatelessClient(daemon, tasks=True)
    conversation, first = begun(daemon, client)
    client.tool("codex-reply", {"threadId": conversation, "prompt": "then", "if_busy": "enqueue"}, 2)
    second = client.answer(2)["result"]["taskId"]
    assert looked_at(client, second)["status"] == "working"
    client.ask("tasks/cancel", {"taskId": second})
    assert looked_at(client, second)["status"] == "cancelled"
    assert looked_at(client, first)["status"] == "working"
    assert conversation in daemon.turns


def test_a_message_that_waited_is_a_task_to_its_own_end() -> None:
    daemon = Daemon()
    client = StatelessClient(daemon, tasks=True)
    conversation, first = begun(daemon, client)
    client.tool("codex-reply", {"threadId": conversation, "prompt": "then", "if_busy": "enqueue"}, 2)
    second = client.answer(2)["result"]["taskId"]
    daemon.finish(conversation, "one")
    daemon.settle()
    assert looked_at(client, second)["status"] == "working"
    daemon.finish(conversation, "two")
    daemon.settle()
    assert [text_of(looked_at(client, one)["result"]) for one in (first, second)] == ["one", "two"]


def test_a_failing_model_is_a_result_with_an_error() -> None:
    daemon = Daemon()
    client = StatelessClient(daemon, tasks=True)
    conversation, task = begun(daemon, client)
    daemon.end(conversation, ModelFailed("no money left"))
    daemon.settle()
    now = looked_at(client, task)
    assert (now["status"], now["result"]["isError"], now["statusMessage"]) == ("completed", True, "no money left")


@pytest.mark.parametrize(
    "task",
    ["x", "", "a.b.c", "00000000-0000-0000-0000-000000000000.0.n1", "{}.0.nobody", "{}.x.n1", "{}.99999999.n1"],
)
@pytest.mark.parametrize("name", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_a_task_that_is_not_there_is_a_bad_param(name: str, task: str) -> None:
    daemon = Daemon()
    client = StatelessClient(daemon, tasks=True)
    conversation, _ = begun(daemon, client)
    wanted: dict[str, Any] = {"taskId": task.format(conversation), "inputResponses": {}}
    assert client.ask(name, wanted)["error"]["code"] == -32602
