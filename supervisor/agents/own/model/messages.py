"""The messages wire, Anthropic's: a request's body. No I/O. Its stream is read in messages_stream.py.

A message is a list of blocks, and adjacent blocks of one role are one message. A piece here is blocks of one role
without the last one's closing brace: the bytes `between` two pieces close it, so that a request can say there, before
that brace, that a cache should keep all up to here. The pieces stay as they are.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache, partial
from hashlib import blake2s
from typing import Any

from pydantic_core import from_json

from supervisor.agents.own.model import history_pieces
from supervisor.agents.own.model.claude import claude_named, longest_answer, thinking
from supervisor.agents.own.model.decoding import Object, a_list, an_object
from supervisor.agents.own.model.history_pieces import TOOLS_KEPT, Form, encode_json, tool_list
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
from supervisor.agents.own.model.web_search import MESSAGES_TOOL, items_of

EPHEMERAL = {"type": "ephemeral"}
MARK = b',"cache_control":{"type":"ephemeral"}'
MARKS = 3  # of the four that a request may have; the fourth stands after tools and instructions
UNIONS = ("anyOf", "oneOf", "allOf")  # refused at the top of a tool's schema
MEDIA = {"image/jpg": "image/jpeg"} | {f"image/{kind}": f"image/{kind}" for kind in ("jpeg", "png", "gif", "webp")}

# The ends of pieces. An answer of thinking alone is refused in a history, so its end has a name of its own.
USER, ASSISTANT, THOUGHT = "user", "assistant", "thought"
OPENING = {"": b"", USER: b'{"role":"user","content":[', ASSISTANT: b'{"role":"assistant","content":['}
CLOSING = {"": b"", USER: b"}]}", ASSISTANT: b"}]}", THOUGHT: b'},{"type":"text","text":"[no words]"}]}'}
# A person has the first word and the last: newer models refuse to continue an answer that a request begins.
FIRST_WORD = b'{"role":"user","content":[{"type":"text","text":"[what came before is not shown]"}]},'
LAST_WORD = b',{"role":"user","content":[{"type":"text","text":"Go on."}]}'

_DATA = re.compile(r"data:([\w/+.-]+);base64,")
_ODD = re.compile(r"[^A-Za-z0-9_-]")


def body(request: ModelRequest, longest: int | None = None, *, web_search: bool = False) -> list[bytes]:
    """Build the body, as a list of byte chunks. `longest`: the tokens of the answer and its thinking."""
    longest = longest or longest_answer(request.model)
    system, items = _instructions(request)
    tools = tool_list(_tool, request.tools, *([MESSAGES_TOOL] if web_search else ()))
    offered = b"" if tools == b"[]" else b'"tools":%b,' % tools
    options: Object = {
        "model": request.model,
        "max_tokens": longest,
        "stream": True,
        **thinking(request.model, request.effort, request.summary, longest),
    }
    history: Object = {**({"system": system} if system else {}), "messages": []}
    before = b"%b,%b%b" % (
        encode_json(options).removesuffix(b"}"),
        offered,
        encode_json(history)[1:].removesuffix(b"]}"),
    )
    form = form_for(request.model)
    written = [item if isinstance(item, HistoryPiece) else form.encode(item) for item in items]
    return [before, *_messages([piece for piece in written if piece.data]), b"]}"]


def _instructions(request: ModelRequest) -> tuple[list[Object], list[HistoryItem | HistoryPiece]]:
    """Return the blocks of the system prompt, which has the developer's words, too, and the items after them."""
    items = list(request.items)
    texts = [request.instructions]
    while items and isinstance(first := items[0], MessageItem) and first.role == "developer":
        texts.append(first.text)
        del items[0]
    blocks: list[Object] = [{"type": "text", "text": text} for text in texts if text.strip()]
    if blocks:
        blocks[-1]["cache_control"] = EPHEMERAL
    return blocks, items


def _messages(written: list[HistoryPiece]) -> Iterator[bytes]:
    marked, end = _ends_of_requests(written), ""
    for place, piece in enumerate(written):
        yield separator(end, piece.begins)
        yield piece.data
        if place in marked:
            yield MARK
        end = piece.ends
    yield separator(end, "")


def _ends_of_requests(written: list[HistoryPiece]) -> set[int]:
    """Return the places of the last pieces before the model spoke: this request ends there, as the last ones did.

    A cache finds the parts that it kept for those, however much was said and called since.
    """
    found: set[int] = set()
    for place in reversed(range(len(written))):
        last = place + 1 == len(written)
        if written[place].ends == USER and (last or written[place + 1].begins != USER):
            found.add(place)
            if len(found) == MARKS:
                break
    return found


def separator(end: str, begin: str) -> bytes:
    """Return the bytes between two pieces: the end of a block, and, where the speaker changes, of a message."""
    speaker = ASSISTANT if end == THOUGHT else end
    if end and speaker == begin:
        return b"},"
    first = FIRST_WORD if begin == ASSISTANT and not end else b""
    last = LAST_WORD if speaker == ASSISTANT and not begin else b""
    return CLOSING[end] + last + (b"," if end and begin else b"") + first + OPENING[begin]


def form_for(model: str) -> Form:
    """Return the form in which the model reads a history: thinking of models that it can't check is left out."""
    return FORM if claude_named(model) else _form_of(model)


@lru_cache(64)
def _form_of(model: str) -> Form:
    return Form(partial(_encode, model=model), separator)


def _encode(item: HistoryItem, model: str = "") -> HistoryPiece:
    match item:
        case MessageItem(role):
            return _blocks(ASSISTANT if role == "assistant" else USER, *map(_part, _without_empty_texts(item.parts)))
        case CallItem():
            return _blocks(ASSISTANT, _call(item))
        case OutputItem():
            return _blocks(USER, _result(item))
        case ReasoningItem() if _reads(item, model):
            return _blocks(ASSISTANT, _thinking_block(item))._replace(ends=THOUGHT)
        case SearchItem(wire, by) if wire == "messages" and (by == model if model else claude_named(by)):
            return _blocks(ASSISTANT, *items_of(item))
        case ReasoningItem() | SearchItem():
            return history_pieces.NOTHING


FORM = Form(_encode, separator)  # of all Claude models


def _reads(item: ReasoningItem, model: str) -> bool:
    """Tell whether the model can read the thinking: its own, or any Claude's that is signed, if it is one itself."""
    if model or item.wire != "messages":
        return item.wire == "messages" and item.model == model
    return claude_named(item.model) is not None and bool(item.signature or item.encrypted_content)


def _blocks(role: str, *blocks: Object) -> HistoryPiece:
    return HistoryPiece(role, role, encode_json(blocks)[1:-2]) if blocks else history_pieces.NOTHING


def _without_empty_texts(parts: Iterable[Part]) -> Iterator[Part]:
    """Leave out empty texts, which are refused."""
    return (part for part in parts if not isinstance(part, TextPart) or part.text.strip())


def _part(part: Part) -> Object:
    match part:
        case TextPart():
            return {"type": "text", "text": part.text}
        case Image():
            return _picture(part.url)
        case LocalImage():
            return {"type": "text", "text": unread_picture_text(part)}


def _picture(url: str) -> Object:
    if not url.startswith("data:"):
        return {"type": "image", "source": {"type": "url", "url": url}}
    found = _DATA.match(url)
    if found is None or found[1].lower() not in MEDIA:
        return {"type": "text", "text": "[a picture in a format that the model does not read]"}
    source = {"type": "base64", "media_type": MEDIA[found[1].lower()], "data": url[found.end() :]}
    return {"type": "image", "source": source}


def _call(item: CallItem) -> Object:
    return {"type": "tool_use", "id": _id(item.call_id), "name": item.name, "input": _input(item.arguments)}


def _input(arguments: str) -> Any:
    """Return the arguments as the object that the wire wants."""
    try:
        value = from_json(arguments, allow_inf_nan=False)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"unreadable": arguments}


def _result(item: OutputItem) -> Object:
    content = {"content": item.output} if item.output.strip() else {}
    failed = {"is_error": True} if item.failed else {}
    return {"type": "tool_result", "tool_use_id": _id(item.call_id), **content, **failed}


def _id(call_id: str) -> str:
    """Return an id of the letters that the wire allows. Other wires allow more; different ids stay different."""
    if call_id and not _ODD.search(call_id):
        return call_id
    return _ODD.sub("_", call_id) + "_" + blake2s(call_id.encode("utf-8", "replace"), digest_size=4).hexdigest()


def _thinking_block(item: ReasoningItem) -> Object:
    if item.encrypted_content is not None:
        return {"type": "redacted_thinking", "data": item.encrypted_content}
    signed = {"signature": item.signature} if item.signature else {}
    return {"type": "thinking", "thinking": "".join(item.summary), **signed}


@lru_cache(TOOLS_KEPT)
def _tool(tool: ToolSpec) -> bytes:
    described = {"name": tool.name, "description": tool.description, "input_schema": _schema(tool.parameters)}
    return encode_json(described)


def _schema(schema: Mapping[str, Any]) -> Object:
    """Return a schema that is an object at the top; of alternatives there, all members are allowed."""
    plain = {key: value for key, value in schema.items() if key not in UNIONS}
    members: Object = {}
    for branch in (an_object(member) for union in UNIONS for member in a_list(schema.get(union))):
        members |= an_object(branch.get("properties"))
    members |= an_object(plain.get("properties"))
    return {**plain, "type": "object", **({"properties": members} if members else {})}
