"""The built-in model: no network, no key, always the same answer to the same words.

It understands PHRASES, alone or joined by `; then `, and answers anything else with that list. It streams
word by word, `pace_s` apart, so that there is something to see and to interrupt.
"""

import asyncio
import json
import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from actors.vocabulary.ids import CallId
from supervisor.agents.own.backends.ports import Notify
from supervisor.agents.own.context.window import FixedWindow
from supervisor.agents.own.model import responses
from supervisor.agents.own.model import stream_events as stream
from supervisor.agents.own.model.answer_reader import Deliver
from supervisor.agents.own.model.decoding import Object
from supervisor.agents.own.model.history_pieces import Form
from supervisor.agents.own.model.request import HistoryItem, HistoryPiece, ModelRequest
from supervisor.agents.own.model.retry import Build
from supervisor.agents.own.transcript.wording import ASK_OPENING
from supervisor.agents.spending.account import BilledModel
from supervisor.agents.spending.prices import FREE
from supervisor.agents.spending.usage import TokenUsage

PACE_S = 0.02
MAX_COUNT = 10_000
# Our own messages, which may come in the middle of a turn.
NOTICES = ("<environment_context>", "<user_instructions>", "<skills>", "<background_commands>")
LINE = b"\n"  # between two items
PHRASES = {
    "run COMMAND": "run a command, where policy allows it without asking",
    "ask COMMAND": "run it outside the sandbox, if somebody approves",
    "keep COMMAND": "run it in the background, until somebody ends it",
    "write FILE: TEXT": "create a file by a patch; \\n begins a new line",
    "change FILE: OLD => NEW": "change one line of a file by a patch",
    "plan STEP, STEP, …": "show a plan",
    "count N": "count to N, aloud and slowly",
    "think WORDS": "reason, then say so",
    "say WORDS": "say it",
}
HELP = (
    "I am the built-in demo model, and understand this:\n\n"
    + "".join(f"  {phrase:24} {meaning}\n" for phrase, meaning in PHRASES.items())
    + "\nSeveral are joined by '; then '."
)


class DemoStep(Struct, frozen=True):
    """A step of an answer: a tool call, or words."""

    words: str = ""
    thought: str = ""
    tool: str = ""
    arguments: str = ""


def _encode(item: HistoryItem) -> HistoryPiece:
    """Encode the item as the responses wire does. It weighs as many characters as it has in a log."""
    return responses.encode(item)._replace(weight=len(str(item)))


FORM = Form(_encode, lambda end, begin: LINE if end and begin else b"")


class DemoModel:
    form = FORM
    billing = BilledModel("demo", "demo", FREE)

    def __init__(self, pace_s: float = PACE_S) -> None:
        self._pace_s = pace_s
        self.window = FixedWindow()

    async def respond(self, build: Build, deliver: Deliver, notify: Notify) -> None:  # noqa: ARG002  # never pauses
        request = await build()
        step = next_step(request.items)
        if step.thought:
            await self._stream(step.thought, stream.ReasoningDelta, deliver)
            await deliver((stream.ReasoningDone("", (step.thought,)),))
        if step.words:
            await self._stream(step.words, stream.TextDelta, deliver)
            await deliver((stream.TextDone(step.words),))
        if step.tool:
            call = CallId(f"demo-{sum(piece.data.count(LINE) + 1 for piece in _pieces(request.items))}")
            await deliver((stream.CallDone(call, step.tool, step.arguments),))
        await deliver((_usage(request, step), stream.ResponseEnd()))

    async def _stream(
        self, words: str, kind: type[stream.TextDelta] | type[stream.ReasoningDelta], deliver: Deliver
    ) -> None:
        for word in re.findall(r"\S+\s*|\s+", words):
            await deliver((kind(word),))
            await asyncio.sleep(self._pace_s)


def next_step(items: Sequence[HistoryItem | HistoryPiece]) -> DemoStep:
    """Return the step that follows those done since the user last spoke."""
    said, outputs = _since_the_user(items)
    if said.startswith(ASK_OPENING):
        return DemoStep(words="The demo model has read it all, and did what it was told.")
    steps = [_parse_step(phrase.strip()) for phrase in re.split(r";\s*then\s+", said)]
    if len(outputs) < len(steps):
        return steps[len(outputs)]
    last = steps[-1]
    return DemoStep(words=_report(last, outputs[-1])) if last.tool else last


def _since_the_user(items: Sequence[HistoryItem | HistoryPiece]) -> tuple[str, list[str]]:
    outputs: list[str] = []
    for item in _backwards(items):
        if item["type"] == "function_call_output":
            outputs.append(item["output"])
        elif item["type"] == "message" and item["role"] == "user":
            words = "".join(part.get("text", "") for part in item["content"]).strip()
            if not words.startswith(NOTICES):
                return words, outputs[::-1]
    return "", outputs[::-1]


def _backwards(items: Sequence[HistoryItem | HistoryPiece]) -> Iterator[Object]:
    """Yield the items, the last first."""
    for piece in _pieces(reversed(items)):
        yield from map(json.loads, reversed(piece.data.split(LINE)))


def _pieces(items: Iterable[HistoryItem | HistoryPiece]) -> Iterator[HistoryPiece]:
    return (item if isinstance(item, HistoryPiece) else FORM.encode(item) for item in items)


def _parse_step(said: str) -> DemoStep:
    verb, _, rest = said.partition(" ")
    match verb.lower():
        case "run" if rest:
            return _call("shell", command=["bash", "-lc", rest])
        case "ask" if rest:
            return _call(
                "shell",
                command=["bash", "-lc", rest],
                with_escalated_permissions=True,
                justification="You asked me to run it outside the sandbox.",
            )
        case "keep" if rest:
            return _call("shell", command=["bash", "-lc", rest], background="conversation")
        case "write" if ":" in rest:
            path, _, text = rest.partition(":")
            return _patch(f"*** Add File: {path.strip()}\n" + "".join(f"+{line}\n" for line in _lines(text)))
        case "change" if ":" in rest and "=>" in rest:
            path, _, change = rest.partition(":")
            old, _, new = change.partition("=>")
            return _patch(f"*** Update File: {path.strip()}\n@@\n-{old.strip()}\n+{new.strip()}\n")
        case "plan" if rest:
            return _call("update_plan", plan=list(_plan(rest)))
        case "count" if rest.strip().isdecimal():
            return DemoStep(words=" ".join(str(number) for number in range(1, min(int(rest[:9]), MAX_COUNT) + 1)))
        case "think" if rest:
            return DemoStep(thought=rest, words=f"I thought about it: {rest}")
        case "say" if rest:
            return DemoStep(words=rest)
        case _:
            return DemoStep(words=f"You said: {said}\n\n{HELP}" if said else HELP)


def _call(tool: str, **arguments: object) -> DemoStep:
    return DemoStep(tool=tool, arguments=json.dumps(arguments))


def _patch(operation: str) -> DemoStep:
    return _call("apply_patch", input=f"*** Begin Patch\n{operation}*** End Patch")


def _lines(text: str) -> list[str]:
    return text.strip().split("\\n")


def _plan(steps: str) -> Iterator[dict[str, str]]:
    for place, step in enumerate(steps.split(",")):
        yield {"step": step.strip(), "status": "in_progress" if place == 0 else "pending"}


def _report(step: DemoStep, output: str) -> str:
    """Report the result of the last tool call as a model would."""
    if step.tool != "shell" or output.startswith("job "):
        return {"Plan updated": "That is the plan."}.get(output) or output.replace(
            "Success. Updated", "I have updated"
        )
    try:
        result = json.loads(output)
        printed, code = str(result["output"]).strip(), result["metadata"]["exit_code"]
    except (ValueError, TypeError, KeyError):
        return f"I could not run it: {output}"
    if code == 0:
        return printed or "Done; it printed nothing."
    return f"It failed with exit code {code}.\n{printed}".strip()


def _usage(request: ModelRequest, step: DemoStep) -> TokenUsage:
    """Estimate tokens at four characters each."""
    read = sum(piece.weight for piece in _pieces(request.items)) // 4
    written = max(1, len(step.words + step.thought + step.arguments) // 4)
    return TokenUsage(input=read, output=written, total=read + written)
