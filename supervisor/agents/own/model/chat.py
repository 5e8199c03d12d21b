"""The chat completions wire: a request's body, and stream events from a stream's data. No I/O.

No item is finished before the finish_reason. Reasoning items are left out of requests, as the wire has none.
"""

from functools import lru_cache, partial
from typing import Any

from pydantic_core import to_json

from actors.vocabulary.ids import CallId
from supervisor.agents.errors import AnswerCut
from supervisor.agents.own.model import history_pieces as pieces
from supervisor.agents.own.model.decoding import (
    LONGEST_NAME,
    Decoder,
    GatheredText,
    Object,
    a_cost,
    a_count,
    a_list,
    a_number,
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
from supervisor.agents.own.model.stream_events import CallDone, RawReasoningDelta, ReasoningDone, TextDelta, TextDone
from supervisor.agents.own.model.web_search import OPENROUTER_PLUGIN
from supervisor.agents.spending.usage import TokenUsage
from supervisor.config.bounds import DEFAULTS, Bounds, json_size

ROLES = {"developer": "system"}  # many servers know no `developer`
CUT_REASONS = frozenset({"length", "content_filter"})  # finish reasons of an incomplete answer


def body(request: ModelRequest, *, include_usage: bool = False, search_plugin: bool = False) -> list[bytes]:
    """Build the body, as a list of byte chunks."""
    options: Object = {"stream_options": {"include_usage": True}} if include_usage else {}
    if search_plugin:
        options["plugins"] = [OPENROUTER_PLUGIN]
    before = encode_json({"model": request.model, "stream": True, **options, "messages": []}).removesuffix(b"]}")
    after = b'],"tools":%b}' % tool_list(_tool, request.tools) if request.tools else b"]}"
    instructions = _message("system", request.instructions)
    return pieces.body(FORM, before, (instructions, *request.items), after)


@lru_cache(TOOLS_KEPT)
def _tool(tool: ToolSpec) -> bytes:
    described = {"name": tool.name, "description": tool.description, "strict": False, "parameters": tool.parameters}
    return encode_json({"type": "function", "function": described})


# The ends of pieces: a whole message, or a message of the model, which goes on if calls follow.
MESSAGE, WORDS, CALLS = "message", "words", "calls"
OPENING = {CALLS: b'{"role":"assistant","content":null,"tool_calls":['}
CLOSING = {WORDS: b"}", CALLS: b"]}"}
GOING_ON = {(WORDS, CALLS): b',"tool_calls":[', (CALLS, CALLS): b","}


def separator(end: str, begin: str) -> bytes:
    """Return the bytes between two pieces. Adjacent calls are one message, with the model's text before them."""
    if (end, begin) in GOING_ON:
        return GOING_ON[end, begin]
    return CLOSING.get(end, b"") + (b"," if end and begin else b"") + OPENING.get(begin, b"")


def encode(item: HistoryItem, *, signed: bool = False) -> HistoryPiece:
    match item:
        case MessageItem("assistant"):
            return HistoryPiece(WORDS, WORDS, _message("assistant", _content(item)).data.removesuffix(b"}"))
        case MessageItem(role):
            return _message(ROLES.get(role, role), _content(item))
        case CallItem():
            return HistoryPiece(CALLS, CALLS, encode_json(_call(item) | (_signature(item) if signed else {})))
        case OutputItem():
            answer = {"role": "tool", "tool_call_id": item.call_id, "content": item.output}
            return HistoryPiece(MESSAGE, MESSAGE, encode_json(answer))
        case ReasoningItem() | SearchItem():
            return pieces.NOTHING


def _message(role: str, content: str | list[Object]) -> HistoryPiece:
    return HistoryPiece(MESSAGE, MESSAGE, encode_json({"role": role, "content": content}))


FORM = Form(encode, separator)
SIGNED = Form(partial(encode, signed=True), separator)


def form_for(model: str) -> Form:
    """Return the form in which the model reads a history: Gemini models want the signatures of their calls back."""
    return SIGNED if "gemini" in model else FORM


def _content(item: MessageItem) -> str | list[Object]:
    return (
        [_part(part) for part in item.parts]
        if any(not isinstance(part, TextPart) for part in item.parts)
        else item.text
    )


def _part(part: Part) -> Object:
    match part:
        case TextPart():
            return {"type": "text", "text": part.text}
        case Image():
            return {"type": "image_url", "image_url": {"url": part.url}}
        case LocalImage():
            return {"type": "text", "text": unread_picture_text(part)}


def _call(item: CallItem) -> Object:
    return {"id": item.call_id, "type": "function", "function": {"name": item.name, "arguments": item.arguments}}


def _signature(item: CallItem) -> Object:
    return {"extra_content": {"google": {"thought_signature": item.signature}}} if item.signature else {}


class CallInPieces:
    """A tool call under construction. `index` orders the calls of a response."""

    __slots__ = ("arguments", "id", "index", "name", "signature")

    def __init__(self, index: int) -> None:
        self.index = index
        self.id = ""
        self.name = ""
        self.signature = ""
        self.arguments = GatheredText()

    def add(self, call_id: str, name: str, arguments: str) -> None:
        """Add a piece. The first id counts. A name may come in pieces or be repeated, until the first arguments."""
        self.id = self.id or call_id
        if name != self.name and not self.arguments and len(self.name) <= LONGEST_NAME:
            self.name += name
        if arguments:
            self.arguments.add(arguments)


class CallGatherer:
    """Calls gathered from pieces by index, or, if a server's index is missing or always 0, by a call's beginning."""

    __slots__ = ("_by_index", "_calls")

    def __init__(self) -> None:
        self._calls: list[CallInPieces] = []
        self._by_index: dict[int | None, CallInPieces] = {}

    def __len__(self) -> int:
        return len(self._calls)

    def add(self, piece: Object) -> int:
        """Add a piece, and return its bytes in the answer."""
        function = an_object(piece.get("function"))
        index, call_id, name = a_number(piece.get("index")), a_text(piece.get("id")), a_text(function.get("name"))
        arguments = _arguments(function.get("arguments"))
        call = self._by_index.get(index)
        if call is None or _begins(call, index, call_id, name):
            call = CallInPieces(len(self._calls) if index is None else index)
            self._calls.append(call)
            self._by_index[index] = call
        call.add(call_id, name, arguments)
        google = an_object(an_object(piece.get("extra_content")).get("google"))
        call.signature = call.signature or a_text(google.get("thought_signature"))
        return len(call_id) + len(name) + json_size(mend_surrogates(arguments))

    def calls(self, response_id: str) -> list[CallDone]:
        return [
            CallDone(CallId(call.id or f"call_{response_id}_{number}"), call.name, whole, call.signature)
            for number, call in enumerate(sorted(self._calls, key=lambda call: call.index))
            for whole in (mend_surrogates(str(call.arguments)),)
        ]


def _arguments(written: Any) -> str:
    """Return the arguments as the model wrote them; some servers send them decoded."""
    if written is None or isinstance(written, str):
        return written or ""
    try:
        return to_json(written).decode()
    except ValueError:  # a half of a surrogate pair, or nested too deeply: no tool of ours takes that
        return "null"


def _begins(call: CallInPieces, index: int | None, call_id: str, name: str) -> bool:
    """Tell whether a piece begins a call. With an index a new id is no sign: some servers invent many."""
    other = bool(call_id and call.id and call_id != call.id)
    return (other and bool(name)) if index is not None else (other or bool(name and not call_id))


class ChatDecoder(Decoder):
    __slots__ = ("_calls", "_raw", "_text")
    _closed_early = "stream closed before a finish_reason"

    def __init__(self, bounds: Bounds = DEFAULTS) -> None:
        super().__init__(bounds)
        self._text = GatheredText()
        self._raw = GatheredText()
        self._calls = CallGatherer()

    def _event(self, data: bytes) -> None:
        if data == b"[DONE]":
            self._answer("")
            if not self.failure:
                self._finish()
            return
        event = self._object(data)
        if event is None:
            return
        if event.get("usage"):
            self.usage = _usage(an_object(event["usage"]))
        choices = a_list(event.get("choices"))
        if choices and not self.answered:
            self.response_id = self.response_id or a_text(event.get("id"))[:LONGEST_NAME]
            self._choice(an_object(choices[0]))
        elif event.get("error") and not self.answered:
            self._fail(in_stream(event["error"]))

    def _choice(self, choice: Object) -> None:
        delta = an_object(choice.get("delta"))
        if raw := delta.get("reasoning") or delta.get("reasoning_content"):
            self._say(RawReasoningDelta, raw if isinstance(raw, str) else _words(raw), self._raw)
        if words := delta.get("content") or delta.get("refusal"):
            self._say(TextDelta, words if isinstance(words, str) else _words(words), self._text)
        if pieces := delta.get("tool_calls"):
            self._gather(a_list(pieces))
        if reason := choice.get("finish_reason"):
            self._answer(a_text(reason))

    def _gather(self, pieces: list[Any]) -> None:
        for piece in pieces:
            self._count_bytes(self._calls.add(an_object(piece)))
            if len(self._calls) > self._bounds.answer_tool_calls:
                self._exceed_bound("answer_tool_calls", "the model asks for too many tool calls at once")
            if self.failure:
                break

    def _answer(self, reason: str) -> None:
        if self.answered or self.failure:
            return
        if reason in CUT_REASONS:
            self._fail(AnswerCut(reason))
            return
        self._flush()
        if self._raw:
            self._tell(ReasoningDone(id="", raw=mend_surrogates(str(self._raw))))
        if self._text:
            self._tell(TextDone(mend_surrogates(str(self._text))))
        self._tell(*self._calls.calls(self.response_id))
        self.answered = not self.failure


def _words(said: Any) -> str:
    """Return the text of a delta; some servers wrap it in an object, or in a list of parts."""
    return "".join(map(_part_words, said)) if isinstance(said, list) else _part_words(said)


def _part_words(part: Any) -> str:
    words = an_object(part)
    return part if isinstance(part, str) else a_text(words.get("text")) or a_text(words.get("content"))


def _usage(counts: Object) -> TokenUsage:
    read, written = a_count(counts.get("prompt_tokens")) or 0, a_count(counts.get("completion_tokens")) or 0
    of_input = an_object(counts.get("prompt_tokens_details"))
    cached = a_count(of_input.get("cached_tokens"))
    return TokenUsage(
        input=read,
        output=written,
        total=max(a_count(counts.get("total_tokens")) or 0, read + written),
        cached=a_count(counts.get("prompt_cache_hit_tokens")) if cached is None else cached,  # DeepSeek's name
        reasoning=a_count(an_object(counts.get("completion_tokens_details")).get("reasoning_tokens")),
        cache_written=a_count(of_input.get("cache_write_tokens")),  # OpenRouter's
        cost=a_cost(counts.get("cost")),  # the same
    )
