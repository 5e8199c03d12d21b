"""Work and questions for tests: a command, in a line."""

from pathlib import Path
from typing import TypeVar

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ApprovalId, CallId, ItemId

SubjectT = TypeVar("SubjectT", bound=ev.WorkSubject | ev.FormSubject)


def command(*words: str, cwd: str = "/work") -> ev.CommandSubject:
    return ev.CommandSubject(command=words, cwd=Path(cwd))


def command_began(*words: str, call: str = "call", item: str = "", cwd: str = "/work") -> ev.WorkBegan:
    return ev.WorkBegan(call_id=CallId(call), item_id=ItemId(item), subject=command(*words, cwd=cwd))


def command_wrote(chunk: bytes, *, call: str = "call", item: str = "", error: bool = False) -> ev.WorkOutput:
    stream = "stderr" if error else "stdout"
    return ev.WorkOutput(call_id=CallId(call), item_id=ItemId(item), stream=stream, chunk=chunk)


def command_ended(
    output: str = "", errors: str = "", *, code: int = 0, call: str = "call", item: str = ""
) -> ev.WorkEnded:
    return ev.WorkEnded(
        call_id=CallId(call),
        item_id=ItemId(item),
        kind="command",
        status="failed" if code else "completed",
        output=output,
        errors=errors,
        exit_code=code,
    )


def command_asked(
    *words: str, approval: str = "ask", call: str = "call", item: str = "", cwd: str = "/work"
) -> ev.ApprovalRequested:
    return ev.ApprovalRequested(
        call_id=CallId(call),
        item_id=ItemId(item),
        approval_id=ApprovalId(approval),
        subject=command(*words, cwd=cwd),
        outside_sandbox=True,
    )


def kind_of(event: ev.BaseEvent) -> str:
    """The kind of the subject of work or of a question; empty for other events."""
    match event:
        case ev.WorkBegan() | ev.ApprovalRequested():
            return event.subject.kind
        case ev.WorkOutput() | ev.WorkEnded():
            return event.kind
        case _:
            return ""


def subject_of(event: ev.WorkBegan | ev.WorkEnded | ev.ApprovalRequested, kind: type[SubjectT]) -> SubjectT:
    """The event's subject, which has to be of this kind."""
    assert isinstance(event.subject, kind), event
    return event.subject


def agent_call_of(event: ev.WorkBegan | ev.WorkEnded | ev.ApprovalRequested) -> ev.AgentCall:
    """The call of the third-party agent, which the event has to be of."""
    assert event.agent_call is not None, event
    return event.agent_call
