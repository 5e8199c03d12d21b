"""The responses wire: a request's body, and stream events from a stream's data. No I/O.

An item is finished with its `response.output_item.done`, the response with `response.completed`.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import ClassVar

from actors.vocabulary.ids import CallId
from actors.vocabulary.settings import ReasoningEffort, ReasoningSummary
from supervisor.agents.errors import AnswerCut, StreamBroken
from supervisor.agents.own.model import history_pieces
from supervisor.agents.own.model.decoding import (
    LONGEST_NAME,
    Decoder,
    Object,
    a_count,
    a_list,
    a_text,
    an_object,
    mend_surrogates,
)
from supervisor.agents.own.model.history_pieces import TOOLS_KEPT, Form, encode_json, tool_list
from supervisor.agents.own.model.refusals import in_stream
from supervisor.agents.own.model.request import (
    CallItem,
    HistoryItem,
    HistoryPiece,
    Image,
    LocalImage,
    MessageItem,
    ModelRequest,
    OutputItem,
    Part,
    ReasoningItem,
    SearchItem,
    TextPart,
    ToolSpec,
    unread_picture_text,
)
from supervisor.agents.own.model.stream_events import (
    CallDone,
    Delta,
    RawReasoningDelta,
    ReasoningDelta,
    ReasoningDone,
    SearchDone,
    SectionBreak,
    TextDelta,
    TextDone,
)
from supervisor.agents.own.model.web_search import RESPONSES_TOOL, encode_kept, items_of, query_of
from supervisor.agents.spending.usage import TokenUsage
from supervisor.config.bounds import DEFAULTS, Bounds, json_size


def body(request: ModelRequest, longest: int | None = None, *, web_search: bool = False) -> list[bytes]:
    """Build the body, as a list of byte chunks. `longest`: the tokens of the answer."""
    reasoning = _reasoning(request)
    before: Object = {"model": request.model, "instructions": request.instructions, "input": []}
    after: Object = {
        "tool_choice": "auto",
        "parallel_tool_calls": True,
        "reasoning": reasoning,
        "store": request.store,
        "stream": True,
        "include": ["reasoning.encrypted_content"] if reasoning and not request.store else [],
    }
    if longest:
        after["max_output_tokens"] = longest
    if request.session_id:
        after["prompt_cache_key"] = request.session_id
    tools = tool_list(_tool, request.tools, *([RESPONSES_TOOL] if web_search else ()))
    rest = b'],"tools":%b,%b' % (tools, encode_json(after).removeprefix(b"{"))
    return history_pieces.body(FORM, encode_json(before).removesuffix(b"]}"), request.items, rest)


@lru_cache(TOOLS_KEPT)
def _tool(tool: ToolSpec) -> bytes:
    described = {"name": tool.name, "description": tool.description, "strict": False, "parameters": tool.parameters}
    return encode_json({"type": "function", **described})


def _reasoning(request: ModelRequest) -> Object | None:
    if request.effort is ReasoningEffort.NONE:
        return None
    summary = {} if request.summary is ReasoningSummary.NONE else {"summary": request.summary.value}
    return {"effort": request.effort.value, **summary}


def _item(item: HistoryItem) -> Object:
    match item:
        case MessageItem(role, parts):
            content = [_part(part, "output_text" if role == "assistant" else "input_text") for part in parts]
            return {"type": "message", "id": None, "role": role, "content": content}
        case CallItem(call_id, name, arguments):
            return {"type": "function_call", "id": None, "name": name, "arguments": arguments, "call_id": call_id}
        case OutputItem(call_id, output):
            return {"type": "function_call_output", "call_id": call_id, "output": output}
        case ReasoningItem(reasoning_id, summary, encrypted):
            parts_of_it = [{"type": "summary_text", "text": text} for text in summary]
            return {"type": "reasoning", "id": reasoning_id, "summary": parts_of_it, "encrypted_content": encrypted}
        case SearchItem():
            return items_of(item)[0]


def encode(item: HistoryItem) -> HistoryPiece:
    foreign = isinstance(item, ReasoningItem | SearchItem) and item.wire != "responses"
    lost = isinstance(item, SearchItem) and len(items_of(item)) != 1
    return history_pieces.NOTHING if foreign or lost else HistoryPiece(ITEM, ITEM, encode_json(_item(item)))


def separator(end: str, begin: str) -> bytes:
    return b"," if end and begin else b""


ITEM = "item"
FORM = Form(encode, separator)


def _part(part: Part, kind_of_text: str) -> Object:
    match part:
        case TextPart():
            return {"type": kind_of_text, "text": part.text}
        case Image():
            return {"type": "input_image", "image_url": part.url}
        case LocalImage():
            return {"type": kind_of_text, "text": unread_picture_text(part)}


DELTAS: dict[str, type[Delta]] = {
    "response.output_text.delta": TextDelta,
    "response.refusal.delta": TextDelta,
    "response.reasoning_summary_text.delta": ReasoningDelta,
    "response.reasoning_text.delta": RawReasoningDelta,
}


class ResponsesDecoder(Decoder):
    __slots__ = ("_calls", "_summarised")
    _closed_early = "stream closed before response.completed"

    def __init__(self, bounds: Bounds = DEFAULTS) -> None:
        super().__init__(bounds)
        self._calls = 0
        self._summarised = False  # the open reasoning item has had some of its summary

    def _event(self, data: bytes) -> None:
        event = self._object(data)
        if event is None:
            return
        kind = event.get("type")
        if delta := DELTAS.get(kind) if isinstance(kind, str) else None:
            self._say(delta, event.get("delta"))
            self._summarised = self._summarised or delta is ReasoningDelta
        elif handle := self._handlers.get(kind) if isinstance(kind, str) else None:
            handle(self, event)
        elif kind is None and event.get("error"):
            self._fail(in_stream(event["error"]))

    def _part_added(self, _event: Object) -> None:
        if self._summarised:
            self._tell(SectionBreak())

    def _arguments_delta(self, event: Object) -> None:
        """Count the arguments only: they are not shown, and the finished call repeats them."""
        self._count_bytes(json_size(a_text(event.get("delta"))))

    def _item_done(self, event: Object) -> None:
        item = an_object(event.get("item"))
        match item.get("type"):
            case "message":
                self._tell(TextDone(_texts(item.get("content"))))
            case "function_call":
                self._calls += 1
                if self._calls > self._bounds.answer_tool_calls:
                    self._exceed_bound("answer_tool_calls", "the model asks for too many tool calls at once")
                call_id, name, arguments = (a_text(item.get(key)) for key in ("call_id", "name", "arguments"))
                self._tell(CallDone(CallId(call_id or a_text(item.get("id"))), name, arguments))
            case "reasoning":
                self._tell(_reasoning_done(item))
                self._summarised = False
            case "web_search_call":
                self._tell(_search_done(item))
            case _:  # an item of a tool that we never offer
                pass

    def _response_created(self, event: Object) -> None:
        self.response_id = a_text(an_object(event.get("response")).get("id"))[:LONGEST_NAME]

    def _response_completed(self, event: Object) -> None:
        response = an_object(event.get("response"))
        self.response_id = a_text(response.get("id"))[:LONGEST_NAME] or self.response_id
        if counts := an_object(response.get("usage")):
            self.usage = _usage(counts)
        self._finish()

    def _response_incomplete(self, event: Object) -> None:
        details = an_object(an_object(event.get("response")).get("incomplete_details"))
        self._fail(AnswerCut(a_text(details.get("reason"))[:LONGEST_NAME] or "incomplete"))

    def _response_failed(self, event: Object) -> None:
        error = an_object(event.get("response")).get("error")
        self._fail(in_stream(error) if error else StreamBroken("response.failed event received"))

    def _error(self, event: Object) -> None:
        self._fail(in_stream(event.get("error") or event))

    _handlers: ClassVar[dict[str, Callable[["ResponsesDecoder", Object], None]]] = {
        "response.created": _response_created,
        "response.reasoning_summary_part.added": _part_added,
        "response.function_call_arguments.delta": _arguments_delta,
        "response.output_item.done": _item_done,
        "response.completed": _response_completed,
        "response.incomplete": _response_incomplete,
        "response.failed": _response_failed,
        "error": _error,
    }


def _texts(parts: object) -> str:
    return "".join(
        a_text(an_object(part).get("text")) or a_text(an_object(part).get("refusal")) for part in a_list(parts)
    )


def _reasoning_done(item: Object) -> ReasoningDone:
    encrypted = item.get("encrypted_content")
    return ReasoningDone(
        id=a_text(item.get("id")),
        summary=tuple(a_text(an_object(part).get("text")) for part in a_list(item.get("summary"))),
        raw=_texts(item.get("content")),
        encrypted_content=mend_surrogates(encrypted) if isinstance(encrypted, str) else None,
    )


def _search_done(item: Object) -> SearchDone:
    known = {name: item[name] for name in ("type", "id", "status", "action") if item.get(name)}
    return SearchDone(
        a_text(item.get("id")), query_of(an_object(item.get("action"))), "responses", encode_kept(known)
    )


def _usage(counts: Object) -> TokenUsage:
    read, written = a_count(counts.get("input_tokens")) or 0, a_count(counts.get("output_tokens")) or 0
    return TokenUsage(
        input=read,
        output=written,
        total=max(a_count(counts.get("total_tokens")) or 0, read + written),
        cached=a_count(an_object(counts.get("input_tokens_details")).get("cached_tokens")),
        reasoning=a_count(an_object(counts.get("output_tokens_details")).get("reasoning_tokens")),
    )
