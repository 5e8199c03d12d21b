"""Messages while a turn runs: each joins before the next request, once, or gets a turn of its own."""

from actors.vocabulary import events as ev
from actors.vocabulary.conditions import Ending
from actors.vocabulary.ids import Caller
from actors.vocabulary.settings import BusyPolicy
from tests.supervisor.agents.own.turns.requests import check_well_formed, talk
from tests.support.engine_harness import EngineHarness, Talk
from tests.support.model_server import ModelServer


def said_by_user(server: ModelServer, number: int) -> list[str]:
    return [line[1] for line in talk(server, number) if line[0] == "user"]


def held_and_steered(conversation: Talk, server: ModelServer) -> Caller:
    """Send two messages, the second during the answer to the first; the first message."""
    first = conversation.start("hold here; say one")
    server.wait_held("here")
    conversation.start("say steered")
    conversation.wait(ev.InputQueued)
    server.open("here")
    return first


def test_input_joins_the_turn_before_its_next_request_exactly_once(
    either: EngineHarness, server: ModelServer
) -> None:
    conversation = either.talk()
    first_said = 'hold here; call shell ["true"]; then; say one'
    first = conversation.start(first_said)
    server.wait_held("here")
    steering = conversation.start("say steered")
    conversation.wait(ev.InputQueued)
    server.open("here")
    assert conversation.result(first) == conversation.result(steering)
    assert conversation.result(first).message == "steered"
    check_well_formed(server.requests[1])
    assert said_by_user(server, 1) == [first_said, "say steered"]
    assert len(conversation.all(ev.TaskStarted)) == len(conversation.all(ev.TaskComplete)) == 1


def test_input_during_the_last_response_extends_the_turn_by_one_request(
    either: EngineHarness, server: ModelServer
) -> None:
    conversation = either.talk()
    first = held_and_steered(conversation, server)
    assert conversation.result(first).message == "steered"
    assert talk(server) == [
        ("user", "hold here; say one"),
        ("assistant", "one"),
        ("user", "say steered"),
    ]
    assert [one.message for one in conversation.all(ev.AgentMessage)] == ["one", "steered"]
    assert len(conversation.all(ev.TaskComplete)) == 1


def test_several_inputs_join_in_the_order_in_which_they_were_said(either: EngineHarness, server: ModelServer) -> None:
    conversation = either.talk()
    first = conversation.start("hold here; say one")
    server.wait_held("here")
    for number in range(5):
        conversation.start(f"say {number}")
        conversation.wait(ev.InputQueued, number + 1)
    server.open("here")
    conversation.result(first)
    assert said_by_user(server, 1)[1:] == [f"say {number}" for number in range(5)]
    assert len(server.requests) == 2


def test_input_during_a_retry_pause_joins_the_next_round_and_not_twice(
    either: EngineHarness, server: ModelServer
) -> None:
    conversation = either.talk()
    said = "status 500 retry-after=0.2; say one"
    first = conversation.start(said)
    conversation.wait(ev.StreamError)
    conversation.start("say steered")
    assert conversation.result(first).message == "steered"
    assert said_by_user(server, -1) == [said, "say steered"]


def test_steering_is_in_the_history_once_after_a_restart(either: EngineHarness, server: ModelServer) -> None:
    conversation = either.talk()
    first = held_and_steered(conversation, server)
    conversation.result(first)
    live = talk(server)
    either.restart()
    conversation.ask("say on")
    assert talk(server) == [*live, ("assistant", "steered"), ("user", "say on")]


def test_input_that_came_too_late_for_an_interrupted_turn_waits_until_it_is_let_go_on(
    either: EngineHarness, server: ModelServer
) -> None:
    conversation = either.talk()
    conversation.start("hold here; say one")
    server.wait_held("here")
    conversation.start("say steered", await_end=False)
    conversation.wait(ev.InputQueued)
    assert conversation.interrupted(conversation.interrupt()).queued == 1
    conversation.ask("say on")
    assert said_by_user(server, -1) == ["hold here; say one", "say on"]


def test_enqueued_input_gets_a_turn_of_its_own(either: EngineHarness, server: ModelServer) -> None:
    conversation = either.talk()
    first = conversation.start("hold here; say one")
    server.wait_held("here")
    second = conversation.start("say two", policy=BusyPolicy.ENQUEUE)
    server.open("here")
    assert (conversation.result(first).message, conversation.result(second).message) == ("one", "two")
    assert conversation.result(second).ending is Ending.COMPLETED
    assert len(conversation.all(ev.TaskStarted)) == 2
