"""Approvals, and the cancellation of requests."""

from actors.messages import conversation as m
from actors.messages import routing as rm
from actors.vocabulary.answers import (
    AnsweredApproval,
    Done,
)
from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.ids import ApprovalId
from transports import supervisor_requests as r
from transports.dialects.control.api import params as p
from transports.dialects.control.api.results import question_rows
from transports.dialects.control.api.subscriptions import ControlCall
from transports.dialects.kit.identifiers import approval_place
from transports.dialects.kit.script import (
    Script,
    ask,
    command,
    conversation_named,
    look_up,
)
from transports.jsonrpc import JsonObject


def list_approvals(_: ControlCall, params: p.ListApprovalsParams) -> Script[JsonObject]:
    """List open approvals, oldest first: the registry knows them, the journal knows their times."""
    if params.conversation is None:
        questions = (yield from look_up(rm.ListApprovals())).requests
    else:
        conversation = yield from conversation_named(params.conversation)
        questions = tuple(
            (conversation, request) for request in (yield from command(conversation, m.Inspect())).pending
        )
    ids = tuple((conversation, request.approval_id) for conversation, request in questions)
    places: tuple[tuple[int, float] | None, ...]
    try:
        places = (yield from ask(r.FindApprovalPlaces(ids))).places
    except GreenroomError:  # the questions are needed, their times are not
        places = (None,) * len(questions)
    return {"approvals": question_rows(questions, places)}


def answer_approval(call: ControlCall, params: p.AnswerApprovalParams) -> Script[AnsweredApproval]:
    decided = m.AnswerApproval(
        ApprovalId(params.approval),
        params.decision,
        call.client.label,
        params.reason,
        params.option,
        params.content,
        params.outside,
    )
    return (yield from command(approval_place(params.approval), decided))


def cancel(call: ControlCall, params: p.CancelParams) -> Done:
    call.state.requests.cancel(params.request, call.client.label)
    return Done()
