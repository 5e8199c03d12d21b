"""What the ways of making a conversation have in common, and of taking a message back."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from actors.ids import Caller
from actors.messages import CancelRequest
from transports.dialect import Action, Tell
from transports.dialects.mcp.call import Call
from transports.dialects.mcp.options import Defaults
from transports.requests import MakeSettings, SettingsMade, Token

if TYPE_CHECKING:
    from transports.dialects.mcp.desk import Desk


def settings_request(token: Token, defaults: Defaults, wanted: Any) -> MakeSettings:
    """`wanted` is any of the three shapes in which clients describe a conversation. Its words come first."""
    return MakeSettings(
        token,
        model=wanted.model or defaults.model,
        profile=wanted.profile or defaults.profile,
        cwd=wanted.cwd or defaults.cwd,
        approval_policy=wanted.approval_policy or defaults.approval_policy,
        sandbox=wanted.sandbox or defaults.sandbox,
        config={**defaults.config, **(wanted.config or {})},
        base_instructions=wanted.base_instructions,
        include_plan_tool=getattr(wanted, "include_plan_tool", None),
        include_apply_patch_tool=getattr(wanted, "include_apply_patch_tool", None),
    )


def notices(call: Call, made: SettingsMade) -> Iterable[Action]:
    for warning in made.warnings:
        yield from call.desk.loudness.once("warning", warning)
    if made.notice is not None:
        yield from call.desk.loudness.once("notice", made.notice)


def take_back(desk: "Desk", caller: Caller) -> Iterable[Action]:
    yield Tell(CancelRequest(caller, desk.client.label))
