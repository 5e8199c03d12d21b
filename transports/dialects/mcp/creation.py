"""What the ways of making a conversation have in common, and of taking a message back."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from actors.ids import Caller
from actors.messages import CancelRequest
from transports.dialect import Action, Tell
from transports.dialects.mcp.call import Call
from transports.dialects.mcp.decoding import strangers
from transports.requests import MakeSettings, Person, SettingsMade, Token

SHOWN = 60  # characters of a name that a client made up
NAMED = 8  # of the names in one request

if TYPE_CHECKING:
    from transports.dialects.mcp.desk import Desk


def settings_request(token: Token, person: Person, wanted: Any) -> MakeSettings:
    """`wanted` is any of the three shapes in which clients describe a conversation."""
    return MakeSettings(
        token,
        model=wanted.model,
        profile=wanted.profile,
        cwd=wanted.cwd,
        approval_policy=wanted.approval_policy,
        sandbox=wanted.sandbox,
        config=wanted.config or {},
        base_instructions=wanted.base_instructions,
        include_plan_tool=getattr(wanted, "include_plan_tool", None),
        include_apply_patch_tool=getattr(wanted, "include_apply_patch_tool", None),
        developer_instructions=getattr(wanted, "developer_instructions", None),
        person=person,
    )


def without_effect(name: str, model: type[BaseModel], given: Any) -> tuple[str, ...]:
    """What the client said and nobody heeds, in a line for each: nothing is dropped in silence."""
    unknown = [f"{name}: unknown argument {key[:SHOWN]!a}, ignored" for key in strangers(model, given)[:NAMED]]
    spellings = ("compact-prompt", "compactPrompt", "compact_prompt")
    early = [f"{name}: {key} has no effect yet: histories are not compacted" for key in spellings if key in given]
    return (*unknown, *early)


def ignoring(call: Call, name: str, model: type[BaseModel], given: Any) -> Iterable[Action]:
    for notice in without_effect(name, model, given):
        yield from call.desk.loudness.once("warning", notice)


def notices(call: Call, made: SettingsMade) -> Iterable[Action]:
    for warning in made.warnings:
        yield from call.desk.loudness.once("warning", warning)
    if made.notice is not None:
        yield from call.desk.loudness.once("notice", made.notice)


def take_back(desk: "Desk", caller: Caller) -> Iterable[Action]:
    yield Tell(CancelRequest(caller, desk.client.label))
