"""The order of a response's calls: those that only read go side by side, all others one after the other."""

import asyncio
from pathlib import Path
from typing import cast

from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from actors.vocabulary.ids import CallId, ItemId
from actors.vocabulary.settings import ReadOnly, Settings
from supervisor.agents.own.model.request import ToolSpec
from supervisor.agents.own.tools.tool_result import ToolResult
from supervisor.agents.own.tools.toolbox import MOST_SIDE_BY_SIDE, Toolbox
from supervisor.agents.own.tools.work import Work
from supervisor.agents.own.transcript.open_calls import OpenCall


class Named(Struct, frozen=True):
    name: str
    only_reads: bool

    @property
    def names(self) -> frozenset[str]:
        return frozenset({self.name})

    def spec(self, settings: Settings) -> ToolSpec | None:
        return ToolSpec(self.name, "", {}) if settings.model == self.name else None

    async def carry_out(self, _: Work, call: OpenCall) -> ToolResult:
        return ToolResult(call.name)


class Servers:
    """Tools from elsewhere, one of which only reads."""

    async def specs(self, _: Work) -> tuple[ToolSpec, ...]:
        return ()

    async def read_only_names(self, _: Work) -> frozenset[str]:
        return frozenset({"theirs__look"})

    async def carry_out(self, _: Work, call: OpenCall) -> ToolResult | None:
        return ToolResult(call.name)


OURS = [Named("look", only_reads=True), Named("seek", only_reads=True), Named("do", only_reads=False)]
TOOLBOX = Toolbox(OURS, more=Servers())


def offered_to(settings: Settings) -> list[str]:
    return [spec.name for spec in TOOLBOX.specs(settings)]


def test_the_offered_tools_follow_the_settings_at_once() -> None:
    looks, seeks = (Settings(model=name, cwd=Path("/"), sandbox=ReadOnly()) for name in ("look", "seek"))
    assert [offered_to(settings) for settings in (looks, looks, seeks, looks)] == [
        ["look"],
        ["look"],
        ["seek"],
        ["look"],
    ]
    assert TOOLBOX.specs(looks) is TOOLBOX.specs(looks)


def rounds(*names: str) -> list[list[str]]:
    calls = [OpenCall(CallId(str(place)), ItemId(str(place)), name, "{}") for place, name in enumerate(names)]
    divided = asyncio.run(TOOLBOX.rounds(cast("Work", None), calls))
    return [[call.name for call in together] for together in divided]


def test_calls_that_only_read_are_together_up_to_the_next_that_does_something() -> None:
    assert rounds("look", "seek", "do", "look", "do") == [["look", "seek"], ["do"], ["look"], ["do"]]


def test_tools_of_servers_that_only_read_are_together_with_ours() -> None:
    assert rounds("look", "theirs__look", "theirs__do", "theirs__look") == [
        ["look", "theirs__look"], ["theirs__do"], ["theirs__look"],
    ]  # fmt: skip


def test_calls_that_do_something_or_are_unknown_stand_alone() -> None:
    assert rounds("do", "do", "what", "what") == [["do"], ["do"], ["what"], ["what"]]


@given(st.lists(st.sampled_from(["look", "do"]), max_size=40))
def test_every_call_has_one_place_and_no_round_is_too_large(names: list[str]) -> None:
    divided = rounds(*names)
    assert [name for together in divided for name in together] == names
    assert all(len(together) <= (MOST_SIDE_BY_SIDE if together[0] == "look" else 1) for together in divided)
