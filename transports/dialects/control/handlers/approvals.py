"""Approvals, and requests that are taken back."""

from actors.messages import conversation as m
from actors.messages import routing as rm
from actors.vocabulary.answers import (
    Answered,
    Done,
)
from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.ids import ApprovalId
from transports import requests as r
from transports.dialects.control.api import params as p
from transports.dialects.control.api.results import waiting
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


def list_approvals(_: ControlCall, given: p.ListApprovals) -> Script[JsonObject]:
    """List open approvals, oldest first: the registry knows them, the journal when they were asked."""
    if given.conversation is None:
        asked = (yield from look_up(rm.ListApprovals())).requests
    else:
        one = yield from conversation_named(given.conversation)
        asked = tuple((one, request) for request in (yield from command(one, m.Inspect())).pending)
    wanted = tuple((one, request.approval_id) for one, request in asked)
    places: tuple[tuple[int, float] | None, ...]
    try:
        places = (yield from ask(r.FindAsked(wanted))).places
    except GreenroomError:  # when it was asked is good to know; what is asked is needed
        places = (None,) * len(asked)
    return {"approvals": waiting(asked, places)}


def answer_approval(call: ControlCall, given: p.AnswerApproval) -> Script[Answered]:
    decided = m.AnswerApproval(
        ApprovalId(given.approval),
        given.decision,
        call.client.label,
        given.reason,
        given.option,
        given.content,
        given.outside,
    )
    return (yield from command(approval_place(given.approval), decided))


def cancel(call: ControlCall, given: p.Cancel) -> Done:
    call.state.requests.cancel(given.request, call.client.label)
    return Done()
