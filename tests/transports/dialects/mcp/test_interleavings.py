"""Random interleavings of clients, agent and actors: one answer each, no open question, no event lost."""

import json
from collections.abc import Callable, Sequence

import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st
from msgspec import to_builtins

from actors.messages.conversation import ResumeQueue, ToConversation
from actors.messages.orders import Completed, InputWanted, ModelFailed
from actors.vocabulary import events as ev
from actors.vocabulary.ids import ConversationId, ItemId
from tests.support.work import command_asked
from tests.transports.dialects.mcp.daemon import Daemon
from tests.transports.dialects.mcp.peer import Json, McpClient
from tests.transports.dialects.mcp.steps import created
from transports.dialects.codex.events import seed_message

DRAWS = st.data()
QUICK = (Phase.reuse, Phase.generate)  # to make a failure small takes minutes; the long test does it
POLICIES = ("steer", "enqueue", "reject", "interrupt")
LIVE = {"task_started", "agent_message", "task_complete", "turn_aborted", "error", "exec_approval_request"}
LIVE |= {"background_event"}  # a queue that is held


class World:
    """A run: two clients, their conversations, an agent, and the order in which mailboxes are emptied."""

    def __init__(self, data: st.DataObject, *, answer_cancelled: bool) -> None:
        self.data = data
        self.daemon = Daemon()
        self.clients = [
            McpClient(self.daemon, "a", answer_cancelled=answer_cancelled),
            McpClient(self.daemon, "b", answer_cancelled=answer_cancelled, elicits=data.draw(st.booleans())),
        ]
        self.shared = created(self.clients[0])
        self.requests: dict[str, list[int]] = {"a": [], "b": []}
        self.cancelled: set[tuple[str, int]] = set()
        self.replied: set[tuple[int, int]] = set()
        self.names = iter(range(1000))

    def pick(self, options: Sequence[object]) -> object:
        return self.data.draw(st.sampled_from(options))

    def client(self) -> tuple[str, McpClient]:
        which = self.data.draw(st.integers(0, 1))
        return "ab"[which], self.clients[which]

    def conversation(self) -> ConversationId:
        return self.data.draw(st.sampled_from(self.daemon.conversations))

    # --- what clients do ------------------------------------------------------------------------------------------

    def call(self) -> None:
        name, client = self.client()
        self._asked(name, client.tool("codex", {"prompt": "hi"}, settle=False))

    def reply(self) -> None:
        name, client = self.client()
        arguments = {"threadId": self.conversation(), "prompt": "more", "if-busy": self.pick(POLICIES)}
        self._asked(name, client.tool("codex-reply", arguments, settle=False))

    def send(self) -> None:
        name, client = self.client()
        content = [{"type": "text", "text": "hello"}]
        arguments = {"conversation_id": self.shared, "content": content}
        self._asked(name, client.tool("conversationSendMessage", arguments, settle=False))

    def stream(self) -> None:
        name, client = self.client()
        self._asked(name, client.tool("conversationStream", {"conversation_id": self.conversation()}, settle=False))

    def listen(self) -> None:
        name, client = self.client()
        params = {"conversationId": self.conversation()}
        self._asked(name, client.begin("addConversationListener", params, settle=False))

    def interrupt(self) -> None:
        name, client = self.client()
        params = {"conversationId": self.conversation()}
        self._asked(name, client.begin("interruptConversation", params, settle=False))

    def cancel(self) -> None:
        name, client = self.client()
        if self.requests[name]:
            request = int(str(self.pick(self.requests[name])))
            self.cancelled.add((name, request))
            client.cancel(request, settle=False)

    def decide(self) -> None:
        which = self.data.draw(st.integers(0, 1))
        client = self.clients[which]
        asked = [one["id"] for one in client.lines if "id" in one and "method" in one]
        waiting = [one for one in asked if (which, one) not in self.replied]
        if not waiting:
            return
        number = int(str(self.pick(waiting)))
        self.replied.add((which, number))
        decision = self.pick(["approved", "denied", "abort", None])
        reply: Json = (
            {"error": {"code": -1, "message": ""}} if decision is None else {"result": {"decision": decision}}
        )
        client.say({"jsonrpc": "2.0", "id": number, **reply}, settle=False)

    def _asked(self, name: str, request: object) -> None:
        assert isinstance(request, int)
        self.requests[name].append(request)

    # --- what the agent does --------------------------------------------------------------------------------------

    def agent_asks(self) -> None:
        for conversation in self.daemon.turns:
            number = next(self.names)
            self.daemon.say(
                conversation,
                command_asked("x", approval=f"a{number}@{conversation}", call=f"c{number}", item=f"i{number}"),
            )

    def agent_says(self) -> None:
        for conversation in self.daemon.turns:
            item = ItemId(f"m{next(self.names)}")
            self.daemon.say(conversation, ev.AgentMessage(message=item, item_id=item), InputWanted())

    def agent_ends(self) -> None:
        for conversation in list(self.daemon.turns):
            self.daemon.end(conversation, ModelFailed("down") if self.data.draw(st.booleans()) else Completed("done"))

    # --- time passes ----------------------------------------------------------------------------------------------

    def run_some(self) -> None:
        for _ in range(self.data.draw(st.integers(1, 12))):
            busy = self.daemon.busy()
            if not busy:
                return
            self.daemon.run_one(busy[self.data.draw(st.integers(0, len(busy) - 1))])

    def wait(self) -> None:
        self.daemon.clock.advance(11)

    def come_to_rest(self) -> None:
        self.daemon.settle()
        for _ in range(100):
            self._resume_queues()  # an interrupt pauses what waits behind it until somebody says to go on
            if not self.daemon.turns:
                return
            for conversation in list(self.daemon.turns):
                self.daemon.finish(conversation, "at last")
            self.daemon.settle()
        raise AssertionError("the queue of turns never empties")

    def _resume_queues(self) -> None:
        for conversation in self.daemon.conversations:
            if self.daemon.state(conversation).facts.paused:
                self.daemon.mailboxes["registry"].tell(ToConversation(conversation, ResumeQueue()))
        self.daemon.settle()

    def everything(self) -> list[Callable[[], None]]:
        mine = [self.call, self.reply, self.send, self.stream, self.listen, self.interrupt, self.cancel, self.decide]
        agent = [self.agent_asks, self.agent_says, self.agent_ends]
        return [*mine, *agent, self.run_some, self.run_some, self.run_some, self.wait]


def journalled(world: World, conversation: ConversationId) -> list[Json]:
    page = world.daemon.journal.read(conversation, 0, 10_000)
    assert page is not None
    events = [to_builtins(seed_message(json.loads(record.body))) for record in page.records]
    return [one for one in events if one is not None and one["type"] != "session_configured"]


def check_answers(world: World, *, answer_cancelled: bool) -> None:
    for name, client in zip("ab", world.clients, strict=True):
        for request in world.requests[name]:
            count = len(client.answers(request))
            if (name, request) in world.cancelled and not answer_cancelled:
                assert count <= 1, request
            else:
                assert count == 1, f"{request} has {count} answers"


def check_questions(world: World) -> None:
    for which, client in enumerate(world.clients):
        asked = {one["id"] for one in client.lines if "id" in one and "method" in one}
        closed = {one["requestId"] for one in client.told("notifications/cancelled")}
        replied = {number for client_number, number in world.replied if client_number == which}
        assert asked <= closed | replied
        left = client.statistics()
        assert {key: left[key] for key in ("requests", "running", "questions", "unasked", "expected")} == {
            "requests": 0,
            "running": 0,
            "questions": 0,
            "unasked": 0,
            "expected": 0,
        }


def check_streams(world: World) -> None:
    """Check that each open stream has shown the whole history, on every connection by itself."""
    for client in world.clients:
        streams = client.dialect._state.streams
        conversations = {one.conversation for one in streams.values()}
        if len(conversations) != 1:
            continue  # live events don't say whose they are, so only one stream at a time can be judged
        (conversation,) = conversations
        begin = max(n for n, one in enumerate(client.lines) if one.get("method") == "notifications/initial_state")
        state = client.lines[begin]["params"]
        if state["_meta"]["conversationId"] != conversation:
            continue
        told = [one["msg"] for one in state["initial_state"]["events"]]
        told += [one["params"]["msg"] for one in client.lines[begin:] if one.get("method") in LIVE]
        assert told == journalled(world, conversation)


def live_through(data: st.DataObject, length: int, *, answer_cancelled: bool) -> None:
    world = World(data, answer_cancelled=answer_cancelled)
    steps = world.everything()
    for _ in range(data.draw(st.integers(5, length))):
        step = steps[data.draw(st.integers(0, len(steps) - 1))]
        note(step.__name__)
        step()
    world.come_to_rest()
    check_answers(world, answer_cancelled=answer_cancelled)
    check_questions(world)
    check_streams(world)


@pytest.mark.parametrize("answer_cancelled", [True, False])
@settings(phases=QUICK, suppress_health_check=list(HealthCheck))
@given(data=DRAWS)
def test_every_request_is_answered_once_and_no_question_stays_open(
    data: st.DataObject, answer_cancelled: bool
) -> None:
    live_through(data, 40, answer_cancelled=answer_cancelled)


@pytest.mark.soak(takes_s=110)
@settings(max_examples=800, suppress_health_check=list(HealthCheck))
@given(data=DRAWS, answer_cancelled=st.booleans())
def test_the_same_for_a_long_time(data: st.DataObject, answer_cancelled: bool) -> None:
    live_through(data, 100, answer_cancelled=answer_cancelled)
