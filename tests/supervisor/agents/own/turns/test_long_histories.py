"""Turns behind long histories: what was encoded is sent as it is, from memory while the conversation is live."""

import json
import tracemalloc
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest.mock import patch

from actors.vocabulary import events as ev
from actors.vocabulary.ids import CallId, ItemId
from actors.vocabulary.items import TextItem
from supervisor.agents.own.model import chat, history_pieces, messages, responses
from supervisor.agents.own.model.wire import form
from supervisor.agents.own.transcript.transcript import ModelTranscript
from supervisor.config.shared_keys import WireApi
from tests.supervisor.agents.own.turns import requests as r
from tests.support.engine_harness import EngineHarness, harness_at, provider
from tests.support.model_server import ModelServer

LONG = "x" * 300_000


@contextmanager
def encoding() -> Iterator[list[bytes]]:
    """Everything that is encoded for a model meanwhile."""
    made: list[bytes] = []

    def noted(value: object) -> bytes:
        made.append(history_pieces.encode_json(value))
        return made[-1]

    with ExitStack() as stack:
        for wire in (chat, responses, messages):
            stack.enter_context(patch.object(wire, "encode_json", noted))
        yield made


def test_a_turn_encodes_what_is_new_and_nothing_of_what_was_said_before(either: EngineHarness) -> None:
    talk = either.talk()
    talk.ask(f"say {LONG}")
    with encoding() as made:
        talk.ask("say short")
    assert sum(map(len, made)) < 20_000  # instructions and tools
    assert any(b"say short" in one for one in made)


def test_a_live_conversation_reads_its_history_once_however_many_turns_it_has(either: EngineHarness) -> None:
    talk = either.talk()
    talk.ask("say one")
    either.restart()
    talk.ask("say two")
    journal = either.engine.journal
    with patch.object(journal, "read", wraps=journal.read) as reading:
        for number in range(5):
            talk.ask(f"say {number}")
    assert not reading.called


def test_a_history_is_the_same_after_its_conversation_has_changed_the_wire(
    tmp_path: Path, server: ModelServer
) -> None:
    wires = ("responses", "messages")
    others = [provider(server.base_url, wire).replace("providers.mock", f"providers.{wire}") for wire in wires]
    with harness_at(tmp_path, server.base_url, "chat", tables="".join(others)) as harness:
        talk = harness.talk()
        talk.ask("reason why; say one")
        elsewhere = [talk.settings.model_copy(update={"provider": wire}) for wire in wires]
        for settings in (*elsewhere, talk.settings, *elsewhere):
            talk.ask('reason why; call update_plan {"plan":[]}; then; say more', settings=settings)
    paths = [request.path.rpartition("/")[2] for request in server.requests]
    there = ["responses", "responses", "messages", "messages"]
    assert paths == ["completions", *there, "completions", "completions", *there]
    before: list[r.Line] = []
    for number in range(len(paths)):
        r.check_well_formed(server.requests[number])
        said = [
            line for line in r.talk(server, number) if len(line) > 1
        ]  # without reasoning, which stays on its wire
        assert said[: len(before)] == before
        before = said


def test_a_transcript_takes_little_more_memory_than_what_a_model_reads() -> None:
    for wire in WireApi:
        tracemalloc.start()
        transcript = ModelTranscript(form(wire, "claude-haiku-4-6"))
        for number in range(500):
            for event in turn(number):
                transcript.take(event)
        transcript.drop_turn_state()
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert transcript.size > 4 << 20
        assert held < 1.25 * transcript.size


def turn(number: int) -> Iterator[ev.DurableEvent]:
    call, item = CallId(f"c{number}"), ItemId(f"i{number}")
    yield ev.TaskStarted()
    yield ev.UserMessage(message="what?", items=(TextItem(text="what?"),))
    yield ev.ToolCall(
        call_id=call, item_id=item, name="shell", arguments=json.dumps({"command": ["ls", f"{number}"]})
    )
    yield ev.ToolOutput(call_id=call, item_id=item, output=f"{number:06}" * 1500)
    yield ev.AgentMessage(message="that")
