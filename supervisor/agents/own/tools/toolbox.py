"""The tools that a model may call, and one call carried out, from its arguments to its result.

Every mistake that a model can make is answered with text. Loop thread.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Protocol

from actors.vocabulary.settings import Settings
from supervisor.agents.own.model.request import ToolSpec
from supervisor.agents.own.tools.arguments import BadArguments
from supervisor.agents.own.tools.tool_result import ToolResult, failure
from supervisor.agents.own.tools.work import Work
from supervisor.agents.own.transcript.open_calls import OpenCall

MOST_SIDE_BY_SIDE = (
    8  # calls that only read, at the same time: each may keep a worker thread, and there are 64 for everybody
)


class Tool(Protocol):
    """A tool. Models may call it by any of its names, whether it is offered or not."""

    @property
    def names(self) -> frozenset[str]: ...

    @property
    def only_reads(self) -> bool:
        """Tell whether calls may run side by side: they change nothing, ask nobody, and may be repeated."""
        ...

    def spec(self, settings: Settings) -> ToolSpec | None:
        """Describe the tool to models; None: it is not offered to this conversation."""
        ...

    async def carry_out(self, work: Work, call: OpenCall) -> ToolResult:
        """Carry out a call. Raises BadArguments for arguments that can't be used."""
        ...


class MoreTools(Protocol):
    """Tools that are only known while the program runs, and may be others at each request."""

    async def specs(self, work: Work) -> tuple[ToolSpec, ...]: ...

    async def read_only_names(self, work: Work) -> frozenset[str]:
        """Return the names of tools whose calls may run side by side, as `only_reads` says of ours."""
        ...

    async def carry_out(self, work: Work, call: OpenCall) -> ToolResult | None:
        """Carry out a call; None if there is no such tool. Raises BadArguments."""
        ...


News = Callable[[Work], str | None]


class Toolbox:
    def __init__(self, tools: Iterable[Tool], news: News = lambda _: None, more: MoreTools | None = None) -> None:
        """`news` describes events since the model was last asked that no call of its own reports."""
        self._tools = tuple(tools)
        self.news = news
        self._more = more
        self._named = {name: tool for tool in self._tools for name in tool.names}
        self._described: tuple[Settings | None, tuple[ToolSpec, ...]] = (
            None,
            (),
        )  # for the settings of the last turn

    def without_tools(self, names: Collection[str]) -> "Toolbox":
        """Return a toolbox that has none of these tools: they are unknown, not just left out of the offer."""
        return Toolbox((tool for tool in self._tools if tool.names.isdisjoint(names)), self.news, self._more)

    def specs(self, settings: Settings) -> tuple[ToolSpec, ...]:
        """Describe the tools that the conversation is offered, in a fixed order: prompt caches depend on it."""
        if self._described[0] is not settings:
            described = (tool.spec(settings) for tool in self._tools)
            self._described = settings, tuple(spec for spec in described if spec is not None)
        return self._described[1]

    async def offered_specs(self, work: Work) -> tuple[ToolSpec, ...]:
        """Describe all tools that the conversation is offered now, ours first."""
        more = await self._more.specs(work) if self._more is not None else ()
        return (*self.specs(work.settings), *more)

    async def rounds(self, work: Work, calls: Sequence[OpenCall]) -> tuple[tuple[OpenCall, ...], ...]:
        """Divide calls, in their order, into those to be carried out side by side. Most calls are alone."""
        if not calls:  # the case twice in each turn
            return ()
        foreign = len(calls) > 1 and any(call.name not in self._named for call in calls)
        more = await self._more.read_only_names(work) if foreign and self._more is not None else frozenset[str]()
        return tuple(self._divide(calls, more))

    def _divide(self, calls: Sequence[OpenCall], more: frozenset[str]) -> Iterator[tuple[OpenCall, ...]]:
        for reads, group in groupby(calls, lambda call: self._only_reads(call, more)):
            together, size = tuple(group), MOST_SIDE_BY_SIDE if reads else 1
            yield from (together[at : at + size] for at in range(0, len(together), size))

    def _only_reads(self, call: OpenCall, more: frozenset[str]) -> bool:
        tool = self._named.get(call.name)
        return tool.only_reads if tool is not None else call.name in more

    async def carry_out(self, work: Work, call: OpenCall) -> ToolResult:
        tool = self._named.get(call.name) or self._more
        try:
            result = await tool.carry_out(work, call) if tool is not None else None
            return result or failure(
                "unknown_tool", f"unsupported call: {call.name}", f"there is no tool {call.name!r}"
            )
        except BadArguments as error:
            return failure("arguments", str(error), f"{call.name}: {error}")
