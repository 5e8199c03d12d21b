"""Interrupts, steering and restarts at any moment: afterwards the model's next request is well formed."""

import random
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from actors.messages.conversation import AnswerApproval
from actors.vocabulary import events as ev
from actors.vocabulary.answers import AcceptedInput, AnsweredApproval
from actors.vocabulary.errors import AlreadyAnswered
from actors.vocabulary.ids import ApprovalId
from actors.vocabulary.settings import ApprovalPolicy, BusyPolicy, Decision
from tests.supervisor.agents.own.turns.requests import check_well_formed, talk
from tests.support.engine_harness import EngineHarness, Talk, harness_at
from tests.support.model_server import ModelServer

SCRIPTS = (
    "words one two three",
    'say wait; call shell ["true"]; call shell ["sh","-c","echo x"]; then; say done',
    'call shell ["sleep","0.02"]; then; call nothing {}; then; words and so on',
    "reason think | more; words a b; patch *** Begin Patch\\n*** Delete File: no\\n*** End Patch; then; say done",
    "words half; cut; words whole",
    "status 500 retry-after=0.01; words after a pause",
    'call shell ["sh","-c","exit 1"]; words beside the call; then; say done',
)


def stands_still(conversation: Talk) -> bool:
    """Tell whether no turn is open, or an approval is."""
    events = Counter(one.type for one in conversation.events)
    asked = events[ev.APPROVAL_REQUESTED]
    over = events["task_started"] == events["task_complete"] + events["turn_aborted"]
    return over or asked > events["approval_resolved"]


def some_moment(harness: EngineHarness, conversation: Talk, chance: random.Random) -> None:
    """Wait for so many more events, or the end of the turn: counted, not slept."""
    recorder = harness.recorder
    target = len(recorder.seen) + chance.randint(0, 12)

    def there() -> bool | None:
        return len(recorder.seen) >= target or stands_still(conversation) or None

    recorder.wait_for(there, "the next moment")


def live(harness: EngineHarness, conversation: Talk, chance: random.Random, number: int) -> list[str]:
    """Run one turn through these events; return what the user said in it, in order."""
    said = [f"{chance.choice(SCRIPTS)}; raw n{number}"]
    harness.answer(conversation.start(said[0], await_end=False), AcceptedInput)
    some_moment(harness, conversation, chance)
    match chance.choice(("nothing", "interrupt", "steer", "replace", "answer", "restart")):
        case "interrupt":
            conversation.interrupted(conversation.interrupt())
        case "steer" | "replace" as how:
            said.append(f"say {how} {number}")
            policy = BusyPolicy.STEER if how == "steer" else BusyPolicy.INTERRUPT
            harness.answer(conversation.start(said[1], policy=policy, await_end=False), AcceptedInput)
        case "restart":
            harness.restart()
        case "answer" | "nothing":
            pass
    settle(harness, conversation, chance)
    return said


def settle(harness: EngineHarness, conversation: Talk, chance: random.Random) -> None:
    """Answer questions one way or another until nothing is open."""

    def quiet() -> bool | None:
        return stands_still(conversation) or None

    while True:
        harness.recorder.wait_for(quiet, "quiet")
        pending = conversation.summary().pending
        if not pending:
            if conversation.summary().turn is None:
                return
            continue
        for question in pending:
            caller = harness.caller()
            decision = chance.choice([Decision.APPROVED, Decision.DENIED])
            conversation.tell(AnswerApproval(question.approval_id, decision), caller)
            answer = harness.answer(caller, object)
            assert isinstance(answer, AnsweredApproval | AlreadyAnswered)  # a turn that is being stopped withdraws it
            harness.recorder.wait_for(partial(resolution, conversation, question.approval_id), "the resolution")


def resolution(conversation: Talk, approval: ApprovalId) -> ev.ApprovalResolved | None:
    return next((one for one in conversation.all(ev.ApprovalResolved) if one.approval_id == approval), None)


def check_history(conversation: Talk, server: ModelServer, said: list[str]) -> None:
    conversation.ask("say on")
    check_well_formed(server.requests[-1])
    users = [line[1] for line in talk(server) if line[0] == "user"]
    assert Counter(users) == Counter([*said, "say on"])
    opened = Counter(one.item_id for one in conversation.all(ev.WorkBegan))
    assert opened == Counter(one.item_id for one in conversation.all(ev.WorkEnded))
    assert max(opened.values(), default=1) == 1, "a command ran twice"


def any_moment(tmp_path: Path, server: ModelServer, wire: str, seed: int, turns: int) -> None:
    chance = random.Random(seed)
    policy = chance.choice([ApprovalPolicy.NEVER, ApprovalPolicy.UNTRUSTED])
    with harness_at(tmp_path / str(seed), server.base_url, wire, stream_max_retries=5) as harness:
        conversation = harness.talk(approval_policy=policy)
        said: list[str] = []
        for number in range(turns):
            said += live(harness, conversation, chance, number)
        check_history(conversation, server, said)


@pytest.mark.parametrize("seed", range(3))
def test_whatever_happens_to_a_turn_the_next_request_is_fit(
    tmp_path: Path, server: ModelServer, wire: str, seed: int
) -> None:
    any_moment(tmp_path, server, wire, seed, turns=6)


@pytest.mark.soak(takes_s=70)
@pytest.mark.timeout(900)
def test_whatever_happens_to_many_turns_the_next_request_is_fit(
    tmp_path: Path, server: ModelServer, wire: str
) -> None:
    for seed in range(100, 160):
        any_moment(tmp_path, server, wire, seed, turns=10)
