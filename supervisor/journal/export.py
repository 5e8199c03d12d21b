"""One conversation as JSON lines: exported from any journal, and imported. Imports are not trusted.

Any thread; only `import_` writes, on the committing thread.
"""

import base64
import json
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import asdict, replace
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from actors.messages.ports import Journal
from actors.vocabulary.conditions import Condition, LastEnding
from actors.vocabulary.errors import InvalidInput, UnknownConversation
from actors.vocabulary.ids import ConversationId, TurnId
from actors.vocabulary.records import Head, Record
from supervisor.journal.old_events import read_record
from supervisor.journal.store import SqliteJournal

FORMAT = 1
PAGE = 500  # events that are read at once; fewer if they are large
PAGE_BYTES = 1 << 18  # the same in bytes
LARGE = 1 << 20  # bytes; a longer event is read in parts
PART = 1 << 18  # bytes of such a part
Model = TypeVar("Model", bound=BaseModel)
Seq = Annotated[int, Field(ge=1, lt=1 << 62)]
Count = Annotated[int, Field(ge=0, lt=1 << 62)]
Moment = Annotated[FiniteFloat, Field(ge=0, lt=253_402_300_800)]  # until the year 9999, where calendars end


Amount = Annotated[FiniteFloat, Field(ge=0)]


class ExportLine(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", defer_build=True)


class ExportedHead(ExportLine):
    """A head in a file: settings and checkpoint are bytes, so they are in base64."""

    conversation: str = Field(min_length=1)
    name: str | None
    cwd: str
    model: str
    state: Condition
    preview: str
    settings: str
    checkpoint: str
    checkpoint_seq: Count
    created: Moment
    updated: Moment
    last_seq: Count
    generation: Count
    archived: bool
    tokens: Count
    context_tokens: Count | None = None
    context_window: Count | None = None
    usd: Amount = 0.0
    unpriced: Count = 1
    queued: Count | None = None
    agent: str = ""
    uncounted: Count = 0
    ended: LastEnding | Literal[""] = ""
    self_named: bool = False


class Header(ExportLine):
    greenroom_export: Literal[1]
    first_seq: Seq
    head: ExportedHead


class ExportedEvent(ExportLine):
    seq: Seq
    ts: Moment
    turn: str | None
    type: str
    body: dict[str, Any]


def export(journal: Journal, conversation: ConversationId) -> Iterator[str]:
    """Yield the text of the file, line by line; a long event in parts, so that it is never in memory whole.

    It ends with the event that was last at its beginning.
    """
    head, page = journal.head(conversation), journal.read(conversation, 0, 1)
    if head is None or page is None:
        raise UnknownConversation(f"no conversation {conversation}")
    fields = asdict(head)
    for name in ("settings", "checkpoint"):
        fields[name] = base64.b64encode(fields[name]).decode()
    fields["ended"] = head.ended or ""
    yield _line({"greenroom_export": FORMAT, "first_seq": page.first_seq, "head": fields}) + "\n"
    after = page.first_seq - 1
    while after < head.last_seq:
        for record in _next_records(journal, conversation, after, head.last_seq):
            yield from _line_of_event(journal, conversation, record)
            after = record.seq


def _next_records(journal: Journal, conversation: ConversationId, after: int, last: int) -> list[Record]:
    page = journal.read(conversation, after, PAGE, PAGE_BYTES, LARGE)
    if page is None or page.first_seq > after + 1:
        raise UnknownConversation(f"{conversation} was removed or pruned while it was exported")
    return [record for record in page.records if record.seq <= last]


def _line_of_event(journal: Journal, conversation: ConversationId, record: Record) -> Iterator[str]:
    """Yield an event with its body as it is stored: as JSON without a line break."""
    fields = {"seq": record.seq, "ts": record.ts, "turn": record.turn, "type": record.type, "body": None}
    before = _line(fields).removesuffix("null}")
    if not record.stored_bytes:
        yield f"{before}{record.body.decode()}}}\n"
        return
    yield before
    offset = 0
    while stored := journal.part(conversation, record.seq, offset, PART):
        whole = _characters(stored)
        yield whole.decode()
        offset += len(whole)
    yield "}\n"


def _characters(chunk: bytes) -> bytes:
    """The chunk, without an incomplete character at its end."""
    return chunk.decode(errors="ignore").encode() if len(chunk) == PART else chunk


class ImportedHistory(Struct, frozen=True):
    """An import that was read and can be stored."""

    head: Head
    first_seq: int
    records: Iterable[Record]


def read_import(lines: Iterable[str | bytes], new_id: ConversationId | None = None) -> ImportedHistory:
    """Read an import: the slow half, which needs no journal. `new_id` gives the conversation another id.

    The records can be iterated once, as they are read one by one: they may not fit into memory.
    """
    numbered = enumerate(lines, 1)
    header = _parse(Header, *next(numbered, (1, "")))
    head = head_of(header.head)
    if new_id is not None:
        head = replace(head, conversation=new_id)
    return ImportedHistory(head, header.first_seq, (_record(number, line) for number, line in numbered))


def store_import(journal: SqliteJournal, conversation_read: ImportedHistory) -> ConversationId:
    """Store the conversation, all of it or nothing. An id that exists already is refused."""
    conversation = conversation_read.head.conversation
    if journal.head(conversation) is not None:
        raise InvalidInput(f"conversation {conversation} exists already; import it under a new id")
    journal.adopt(conversation_read.head, conversation_read.first_seq, conversation_read.records)
    return conversation


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _parse(model: type[Model], number: int, line: str | bytes) -> Model:
    try:
        return model.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        member = ".".join(str(part) for part in first["loc"])  # empty if the line is not JSON
        words = f"{member}: {first['msg']}" if member else first["msg"]
        raise InvalidInput(f"line {number}: {words}", line=number) from None


def _record(number: int, line: str | bytes) -> Record:
    event = _parse(ExportedEvent, number, line)
    if event.body.get("type") != event.type:
        raise InvalidInput(
            f"line {number}: type is {event.type}, the body says {event.body.get('type')}", line=number
        )
    try:
        body = _line(event.body).encode()
    except ValueError as error:  # NaN and the like, which Python reads and JSON does not have
        raise InvalidInput(f"line {number}: body: {error}", line=number) from None
    turn = None if event.turn is None else TurnId(event.turn)
    return read_record(Record(event.seq, event.ts, turn, event.type, body))


def head_of(exported: ExportedHead) -> Head:
    fields = exported.model_dump()
    for name in ("settings", "checkpoint"):
        try:
            fields[name] = base64.b64decode(fields[name], validate=True)
        except ValueError as error:  # binascii.Error is a ValueError
            raise InvalidInput(f"line 1: head.{name}: {error}", line=1) from None
    fields["ended"] = fields["ended"] or None
    return Head(**fields)
