"""A turn that meets a bound says which, its conversation goes on, and its model reads what the journal has."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.conditions import Ending
from actors.vocabulary.errors import JournalError, StorageFull
from actors.vocabulary.records import Append
from supervisor.agents.own.tools import patching
from supervisor.work.patch.apply import apply_plan
from supervisor.work.patch.plan import PatchPlan
from tests.supervisor.agents.own.turns.requests import check_well_formed, talk
from tests.supervisor.agents.own.turns.test_patches import ADD, as_argv, as_tool
from tests.support.engine_harness import Talk, harness_at
from tests.support.model_server import ModelServer


def failed(conversation: Talk, said: str) -> str:
    result = conversation.result(conversation.start(said))
    assert result.ending is Ending.ERROR
    assert conversation.types()[-2:] == ["error", "task_complete"]
    return result.message or ""


def output(server: ModelServer) -> str:
    check_well_formed(server.requests[-1])
    return [line[2] for line in talk(server) if line[0] == "output"][-1]


@pytest.mark.parametrize("wire", ["chat", "responses"])
def test_an_answer_beyond_the_bound_ends_its_turn_and_the_next_reads_what_the_journal_has(
    tmp_path: Path, server: ModelServer, wire: str
) -> None:
    with harness_at(tmp_path, server.base_url, wire, greenroom="limits.answer_bytes = 1000") as harness:
        conversation = harness.talk()
        told = failed(conversation, f"stream 400 {'long' * 10}")
        assert told.endswith("the bound is 1000 (greenroom.limits.answer_bytes in the configuration)")
        (partial,) = conversation.all(ev.AgentMessage)
        assert partial.partial
        assert len(partial.message) == 1000
        conversation.ask("say two")
        before = talk(server)
        harness.restart()
        conversation.attach()
        conversation.ask("say three")
        assert talk(server) == [*before, ("assistant", "two"), ("user", "say three")]
        assert len(server.requests) == 3, "what meets a bound is asked for again"


@pytest.mark.parametrize("wire", ["chat", "responses"])
def test_too_many_calls_at_once_are_an_error_and_none_is_run(tmp_path: Path, server: ModelServer, wire: str) -> None:
    with harness_at(tmp_path, server.base_url, wire, greenroom="limits.answer_tool_calls = 3") as harness:
        conversation = harness.talk()
        told = failed(conversation, "; ".join(["call nothing {}"] * 4))
        assert "greenroom.limits.answer_tool_calls" in told
        conversation.ask("; ".join(["call nothing {}"] * 3) + "; then; say done")
        check_well_formed(server.requests[-1])


def test_a_conversation_too_long_to_be_sent_says_so_and_sends_nothing(tmp_path: Path, server: ModelServer) -> None:
    with harness_at(tmp_path, server.base_url, greenroom="limits.request_bytes = 20000") as harness:
        conversation = harness.talk()
        conversation.ask("say one")
        told = failed(conversation, "x" * 20_000)
        assert told.startswith("the conversation is too long to be sent to a model; fork it at an earlier point")
        assert len(server.requests) == 1


def test_a_patch_and_a_command_beyond_their_bounds_are_told_to_the_model(tmp_path: Path, server: ModelServer) -> None:
    limits = "limits.patch_bytes = 3\nlimits.command_bytes = 50"
    with harness_at(tmp_path, server.base_url, greenroom=limits) as harness:
        conversation = harness.talk(include_apply_patch_tool=True)
        conversation.ask(as_tool(ADD))
        assert output(server).startswith(
            "error: the patch reads and writes too much: the bound is 3 (greenroom.limits."
        )
        conversation.ask(as_argv(ADD))
        assert "greenroom.limits.patch_bytes" in output(server)
        conversation.ask(f"call shell {json.dumps(['echo', 'x' * 50])}; then; say done")
        assert output(server).startswith("error: the command is too long; write a file and run that: the bound is 50")
        assert not conversation.all(ev.WorkBegan)
        assert not (harness.workspace / "new.txt").exists()


def test_a_file_is_changed_only_when_that_stands_in_the_journal(
    tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with harness_at(tmp_path, server.base_url) as harness:
        conversation = harness.talk()
        stored: list[str] = []

        def look_and_apply(plan: PatchPlan, umask: int, pinned: Mapping[Path, tuple[int, int]]) -> str:
            page = harness.engine.journal.read(conversation.conversation, 0, 1000)
            assert page is not None
            stored.extend(record.type for record in page.records)
            return apply_plan(plan, umask, pinned)

        monkeypatch.setattr(patching, "apply_plan", look_and_apply)
        conversation.ask(as_argv(ADD))
        assert stored[-1] == ev.type_of(ev.WorkBegan)
        assert (harness.workspace / "new.txt").exists()


def test_a_finished_turn_keeps_none_of_its_outputs_in_memory(tmp_path: Path, server: ModelServer) -> None:
    with harness_at(tmp_path, server.base_url) as harness:
        conversation = harness.talk()
        noise = json.dumps(["sh", "-c", "head -c 300000 /dev/zero | tr '\\0' x"])
        conversation.ask("; then; ".join([f"call shell {noise}"] * 5) + "; then; say done")
        kept = harness.engine.agent.get().transcripts.statistics()
        assert kept["transcripts"] == 1
        assert kept["size"] < 100_000


def test_events_that_the_disk_refused_are_not_sent_to_the_model(
    tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with harness_at(tmp_path, server.base_url) as harness:
        conversation = harness.talk()
        conversation.ask("say one")
        commit = harness.engine.journal.commit
        refused: list[Append] = []

        def refusing(appends: Sequence[Append]) -> list[JournalError | None]:
            lost = [one for one in appends if any(record.type == "agent_message" for record in one.records)]
            if not lost or refused:
                return commit(appends)
            refused.extend(lost)
            return [StorageFull("the disk is full") for _ in appends]

        monkeypatch.setattr(harness.engine.journal, "commit", refusing)
        harness.answer(conversation.start("say in vain"), object)  # how it ended, or that this could not be stored
        conversation.ask("say two")
        assert refused
        assert ("assistant", "in vain") not in talk(server)


LONG = "x" * 60_000
QUOTED = (
    f"*** Begin Patch\n{LONG}\n*** End Patch",
    f"*** Begin Patch\n*** Update File: {LONG}\n*** End Patch",
    f"*** Begin Patch\n*** Add File: \0{LONG}\n+a\n*** End Patch",
    f"*** Begin Patch\n*** Update File: there\n{LONG}\n*** End Patch",
    f"*** Begin Patch\n*** Update File: there\n@@ {LONG}\n-a\n+b\n*** End Patch",
    f"*** Begin Patch\n*** Update File: there\n-{LONG}\n+b\n*** End Patch",
)


def test_the_error_of_a_call_is_told_in_a_few_kilobytes(tmp_path: Path, server: ModelServer) -> None:
    """The answer is sent with every later request."""
    with harness_at(tmp_path, server.base_url) as harness:
        (harness.workspace / "there").write_text("a\n")
        conversation = harness.talk(include_apply_patch_tool=True)
        for patch in QUOTED:
            conversation.ask(as_tool(patch))
            assert len(output(server)) < 20_000, f"{patch[:60]}: {output(server)[:60]}"
        conversation.ask(
            f"call shell {json.dumps({'command': ['true'], 'workdir': f'{LONG}{chr(0)}'})}; then; say done"
        )
        assert len(output(server)) < 20_000
        assert output(server).startswith("error: workdir")
        conversation.ask(f"call shell {json.dumps(['bash', '-lc', chr(10) * 300_000])}; then; say done")
        assert "greenroom.limits.patch_lines" in output(server)
