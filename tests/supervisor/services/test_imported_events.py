"""An import says nothing of how its conversation is run: every setting, in every place, under every id and policy."""

import base64
import dataclasses
import json
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from actors.conversation import head_of, restore
from actors.conversation.facts import Facts, TurnFacts
from actors.vocabulary import events as ev
from actors.vocabulary.errors import InvalidInput
from actors.vocabulary.event_bases import DurableEvent
from actors.vocabulary.ids import ApprovalId, CallId, ConversationId, InputId, ItemId, JobId, TurnId
from actors.vocabulary.items import LocalImageItem, TextItem
from actors.vocabulary.records import Append, Record
from actors.vocabulary.settings import (
    ApprovalPolicy,
    BusyPolicy,
    DangerFullAccess,
    Decision,
    Pin,
    ReadOnly,
    SandboxPolicy,
    Settings,
    WorkspaceWrite,
)
from supervisor.journal import SqliteJournal
from supervisor.journal.export import export, store_import
from supervisor.services.forks_and_imports import ReplayedImport, make_fork, replay_import
from supervisor.services.imported_events import FACTS, OF_THE_OPEN_TURN, imported_event
from tests.support.any_event import event_of
from tests.support.work import command_asked

ONE = ConversationId("11111111-1111-4111-8111-111111111111")
TWO = ConversationId("22222222-2222-4222-8222-222222222222")
STRANGE = "of-a-stranger"
MINE = Settings(model="mine", provider="ours", cwd=Path("/here"), approval_policy=ApprovalPolicy.UNTRUSTED)
POLICIES: tuple[tuple[SandboxPolicy, ApprovalPolicy], ...] = tuple(
    product((ReadOnly(), WorkspaceWrite(), DangerFullAccess()), ApprovalPolicy)
)

# What a stranger would like each of them to be. A setting that is new has to be added, or the test below says so.
WISHES: dict[str, Any] = {
    "model": STRANGE,
    "provider": STRANGE,
    "cwd": Path("/", STRANGE),
    "approval_policy": "never",
    "sandbox": WorkspaceWrite(writable_roots=(Path("/", STRANGE),), network_access=True),
    "effort": "high",
    "summary": "detailed",
    "base_instructions": STRANGE,
    "developer_instructions": STRANGE,
    "include_plan_tool": True,
    "include_apply_patch_tool": True,
    "roots": (Pin(name=Path("/", STRANGE), path=Path("/etc"), inode=1),),
    "overrides": {
        "mcp_servers": {"x": {"command": STRANGE}},
        "notify": [STRANGE],
        "agents": {"y": {"args": [STRANGE]}},
    },
    "agent": STRANGE,
    "agent_model": STRANGE,
    "agent_effort": STRANGE,
}
STRANGERS = Settings.model_validate(WISHES)
TURN, LATER = TurnId("t"), TurnId("u")
Said = tuple[ev.DurableEvent, TurnId | None]


def turn(one: TurnId, settings: Settings | None = None) -> Iterator[Said]:
    yield ev.TaskStarted(settings=settings), one
    yield ev.UserMessage(message="said", items=(TextItem(text="said"),), input_id=InputId(f"i{one}")), one
    yield ev.TaskComplete(last_agent_message="ok"), one


def file_with(tmp_path: Path, said: Iterable[Said]) -> list[str]:
    """The lines of an export of a history that somebody else has made."""
    records = tuple(
        Record(seq, float(seq), turn, event.type, event.model_dump_json().encode())
        for seq, (event, turn) in enumerate(said, 1)
    )
    with closing(SqliteJournal(tmp_path / f"theirs{len(list(tmp_path.iterdir()))}.sqlite3")) as theirs:
        assert theirs.commit([Append(ONE, records, head_of(restore(ONE, None, records)))]) == [None]
        return list(export(theirs, ONE))


def pruned(lines: list[str], first: int) -> list[str]:
    head = json.loads(lines[0])
    head["first_seq"] = first
    return [json.dumps(head), *lines[first:]]


def taken_in(lines: list[str], new_id: ConversationId | None = None, mine: Settings = MINE) -> ReplayedImport:
    return replay_import(lines, new_id, [], mine)


def born(settings: Settings | None) -> Said:
    return ev.SessionConfigured(session_id=ONE, model="m", settings=settings), None


def changed(settings: Settings) -> Said:
    return ev.SettingsChanged(settings=settings, by=STRANGE), None


def queued(settings: Settings) -> Said:
    waiting, items = InputId("q"), (TextItem(text="go"),)
    policy = BusyPolicy.ENQUEUE
    return ev.InputQueued(input_id=waiting, policy=policy, items=items, settings=settings, own=("cwd",)), None


PLACES = {
    "the beginning": (born(STRANGERS), *turn(TURN)),
    "a change": (born(MINE), *turn(TURN), changed(STRANGERS), *turn(LATER)),
    "a change that was taken back": (born(MINE), changed(STRANGERS), *turn(TURN), changed(MINE)),
    "a turn": (born(MINE), *turn(TURN, STRANGERS)),
    "a turn that is open": (born(MINE), *turn(TURN), *[*turn(LATER, STRANGERS)][:2]),
    "a message that waits": (born(MINE), *turn(TURN), queued(STRANGERS)),
    "a message that waited": (born(MINE), queued(STRANGERS), *turn(TURN)),
    "everywhere": (born(STRANGERS), queued(STRANGERS), *turn(TURN, STRANGERS), changed(STRANGERS), *turn(LATER)),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("first", [1, 3])
@pytest.mark.parametrize("new_id", [None, TWO], ids=["its id", "a new id"])
def test_every_setting_is_the_persons_wherever_the_file_names_another(
    tmp_path: Path, place: str, first: int, new_id: ConversationId | None
) -> None:
    if place == "a turn that is open" and new_id is not None:
        return  # refused, whatever its settings
    assert WISHES.keys() == Settings.model_fields.keys()
    lines = file_with(tmp_path, PLACES[place])
    for number, (sandbox, policy) in enumerate(POLICIES):
        mine = MINE.model_copy(update={"sandbox": sandbox, "approval_policy": policy})
        found = taken_in(pruned(lines, first) if first > 1 else lines, new_id, mine)
        head = found.history.head
        told = (head.settings, head.checkpoint, head.cwd, head.model, head.agent, *settings_told(found))
        assert STRANGE not in f"{told}"
        assert restore(head.conversation, head, ()).facts.settings == mine
        if number:
            continue
        with closing(SqliteJournal(tmp_path / f"ours{first}{new_id}.sqlite3")) as ours:
            store_import(ours, found.history)
            for at in range(first, head.last_seq + 1) if first == 1 else ():
                if (settings := forked_settings(ours, head.conversation, at)) is not None:
                    assert settings == mine, f"forked at {at}"


def settings_told(found: ReplayedImport) -> Iterator[Any]:
    """Yield the settings in the events, which may say besides what a stranger called himself."""
    for record in found.history.records:
        body = json.loads(record.body)
        yield body.get("settings"), body.get("model")


def forked_settings(journal: SqliteJournal, source: ConversationId, at: int) -> Settings | None:
    try:
        fork = make_fork(journal, source, ConversationId("33333333-3333-4333-8333-333333333333"), at, None)
    except Exception:  # noqa: BLE001 - inside of a turn
        return None
    return restore(fork.head.conversation, fork.head, ()).facts.settings


def test_settings_that_an_imported_file_asked_for_are_told_one_by_one(tmp_path: Path) -> None:
    for lines in (file_with(tmp_path, PLACES["everywhere"]), pruned(file_with(tmp_path, PLACES["everywhere"]), 3)):
        assert taken_in(lines).file_settings == STRANGERS
    assert taken_in(file_with(tmp_path, PLACES["a change that was taken back"])).file_settings == MINE
    assert taken_in(file_with(tmp_path, (born(None), *turn(TURN)))).file_settings is None


def parts_of(annotation: object) -> Iterator[object]:
    yield annotation
    for part in get_args(annotation):
        yield from parts_of(part)


@pytest.mark.parametrize("kind", ev.DURABLE_EVENTS, ids=lambda kind: kind.__name__)
@examples(max_examples=10, deadline=None)
@given(data=st.data())
def test_no_event_of_any_kind_brings_settings_a_yes_or_a_file(kind: type[DurableEvent], data: st.DataObject) -> None:
    event = data.draw(event_of(kind))
    made = event.model_dump(mode="json")
    for name in ("settings", "items"):
        if name in made:
            made[name] = {
                "settings": STRANGERS.model_dump(mode="json"),
                "items": [{"type": "local_image", "path": f"/{STRANGE}"}],
            }[name]
    if kind is ev.ApprovalResolved:
        made["decision"] = "approved_for_session"
    body = kind.model_validate(made).model_dump_json().encode()
    kept = imported_event(ev.durable_adapter.validate_json(body), TWO, 9, MINE)
    after = ev.durable_adapter.validate_json(kept.model_dump_json())
    assert getattr(after, "settings", None) in (None, MINE)
    assert getattr(after, "decision", None) is not Decision.APPROVED_FOR_SESSION
    for name, field in kind.model_fields.items():
        held = set(map(str, parts_of(field.annotation)))
        assert name == "settings" or str(Settings) not in held, "settings under another name"
        assert name == "items" or str(LocalImageItem) not in held, "a file under another name"
        assert name == "decision" or str(Decision) not in held or name == "default", "an answer under another name"
    assert not any(isinstance(item, LocalImageItem) for item in getattr(after, "items", ()))


def test_every_fact_of_a_pruned_history_is_either_harmless_or_left_out() -> None:
    names = {one.name for one in dataclasses.fields(Facts)}
    assert names - set(FACTS) == {"conversation", "settings", "standing", "kept", "agents", "copied", "turn"}
    assert {one.name for one in dataclasses.fields(TurnFacts)} - set(OF_THE_OPEN_TURN) == {"settings", "granted"}


def asked(approval: str, *command: str) -> ev.ApprovalRequested:
    return command_asked(*command, approval=approval).model_copy(update={"item_id": ItemId("e")})


def test_a_command_allowed_for_the_imported_conversation_is_asked_again_even_in_a_fork(tmp_path: Path) -> None:
    allowed = ev.ApprovalResolved(approval_id=ApprovalId("a"), decision=Decision.APPROVED_FOR_SESSION)
    question: list[Said] = [(ev.TaskStarted(), TURN), (asked("a", "rm", "-rf", "/"), TURN), (allowed, TURN)]
    said: list[Said] = [born(MINE), *question, (ev.TaskComplete(), TURN), *turn(LATER)]
    lines = file_with(tmp_path, said)
    for one in (lines, pruned(lines, 6)):
        head = taken_in(one, TWO).history.head
        assert restore(TWO, head, ()).facts.kept == ()
    with closing(SqliteJournal(tmp_path / "ours.sqlite3")) as ours:
        store_import(ours, taken_in(lines).history)
        fork = make_fork(ours, ONE, TWO, 5, None)
        assert restore(TWO, None, fork.records).facts.kept == ()


@pytest.mark.parametrize("checkpoint", range(1, 8))
def test_no_session_of_an_agent_is_taken_over_wherever_the_files_checkpoint_is(
    tmp_path: Path, checkpoint: int
) -> None:
    session = ev.AgentSession(agent="claude", session="one of the person's", how="new")
    begun: list[Said] = [(ev.TaskStarted(), LATER), (session, LATER), (ev.TaskComplete(), LATER)]
    said: list[Said] = [born(MINE), *begun, *turn(TURN), *begun]
    lines = file_with(tmp_path, said)
    told = json.loads(lines[0])
    records = [
        Record(seq, 1.0, one[1], one[0].type, one[0].model_dump_json().encode()) for seq, one in enumerate(said, 1)
    ]
    earlier = head_of(restore(ONE, None, tuple(records[:checkpoint])))
    told["first_seq"] = min(2, checkpoint)
    told["head"]["checkpoint"] = base64.b64encode(earlier.checkpoint).decode()
    told["head"]["checkpoint_seq"] = checkpoint
    for new_id in (None, TWO):
        arriving = taken_in([json.dumps(told), *lines[told["first_seq"] :]], new_id).history
        assert restore(arriving.head.conversation, arriving.head, ()).facts.agents == ()


def test_input_questions_and_calls_that_were_open_in_the_file_are_withdrawn(tmp_path: Path) -> None:
    open_turn: list[Said] = [(ev.TaskStarted(), LATER), (asked("a", "ls"), LATER)]
    job = ev.JobStarted(job=JobId("j"), call_id=CallId("c"), command=("sleep", "9"), cwd=Path("/"), keeps=True)
    lines = file_with(tmp_path, [born(MINE), *turn(TURN), queued(MINE), (job, TURN), *open_turn])
    for one in (lines, pruned(lines, 4)):
        facts = restore(ONE, taken_in(one).history.head, ()).facts
        assert (facts.pending, facts.jobs, facts.open_questions, facts.paused) == ((), (), (), False)
        assert facts.turn is not None
        assert not facts.turn.only_waits, "so it is ended as lost when the conversation comes alive"


@pytest.mark.parametrize(
    "spelt",
    [
        {"type": "local_image", "path": "/home/somebody/passport.png"},
        {"type": "localImage", "path": "/home/somebody/passport.png"},
        {"type": "localImage", "data": {"path": "/home/somebody/passport.png"}},
        {"data": {"type": "local_image", "path": "/home/somebody/passport.png"}},
    ],
)
def test_a_picture_in_a_file_is_one_of_the_other_machine_however_it_is_spelt(
    tmp_path: Path, spelt: dict[str, Any]
) -> None:
    message = ev.UserMessage(message="see", items=(TextItem(text="see"),), input_id=InputId("i"))
    head, *lines = file_with(
        tmp_path, [born(MINE), (ev.TaskStarted(), TURN), (message, TURN), (ev.TaskComplete(), TURN)]
    )
    told = json.loads(lines[2])
    told["body"]["items"].append(spelt)
    (kept,) = [
        one
        for one in taken_in([head, *lines[:2], json.dumps(told), lines[3]]).history.records
        if one.type == "user_message"
    ]
    assert json.loads(kept.body)["items"] == [
        {"type": "text", "text": "see"},
        {"type": "text", "text": "[a picture that was in the file '/home/somebody/passport.png']"},
    ]


@pytest.mark.parametrize("name", ["../../etc", "--force", "@last", "a b", "x" * 65, "/abs", "."])
def test_an_id_that_greenroom_would_not_give_comes_in_under_another(tmp_path: Path, name: str) -> None:
    lines = [line.replace(ONE, name) for line in file_with(tmp_path, (born(MINE), *turn(TURN)))]
    with pytest.raises(InvalidInput, match="import it under a new id"):
        taken_in(lines)
    assert taken_in(lines, TWO).history.head.conversation == TWO


@pytest.mark.parametrize("name", ["\x1b[2Jgone", "--force", "@last", "x" * 201, "a\u202eb"])
def test_a_name_that_nobody_can_type_comes_in_under_a_new_id(tmp_path: Path, name: str) -> None:
    lines = file_with(tmp_path, (born(MINE), *turn(TURN), (ev.ConversationRenamed(name=name), None)))
    with pytest.raises(InvalidInput, match="the conversation's name; import it under a new id"):
        taken_in(lines)
    assert taken_in(lines, TWO).history.head.name is None


@pytest.mark.parametrize("first", [1, 5])
def test_an_account_that_is_less_than_nothing_is_refused(tmp_path: Path, first: int) -> None:
    owed: Said = (ev.CallsLeft(count=10**9), TURN)
    said = [born(MINE), (ev.TaskStarted(), TURN), owed, (ev.TaskComplete(), TURN), *turn(LATER)]
    lines = file_with(tmp_path, said)
    with pytest.raises(InvalidInput, match="less than nothing"):
        taken_in(lines if first == 1 else pruned(lines, first))
