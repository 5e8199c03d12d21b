"""One conversation as JSON lines, out in pieces and in. Out of any journal; on the way in, lines are strangers."""

import base64
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from actors.errors import InvalidInput, UnknownConversation
from actors.ids import ConversationId, TurnId
from actors.ports import Journal
from actors.records import Head, Record
from supervisor.journal.store import SqliteJournal

FORMAT = 1
PAGE = 500  # events of one piece; the journal ends it earlier where they are large
Model = TypeVar("Model", bound=BaseModel)
Seq = Annotated[int, Field(ge=1, lt=1 << 62)]
Count = Annotated[int, Field(ge=0, lt=1 << 62)]
Moment = Annotated[FiniteFloat, Field(ge=0, lt=253_402_300_800)]  # until the year 9999: no calendar goes further


class Line(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class ExportedHead(Line):
    """Head as it stands in a file: settings and checkpoint are bytes, so base64."""

    conversation: str = Field(min_length=1)
    name: str | None
    cwd: str
    model: str
    state: str
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


class Header(Line):
    greenroom_export: Literal[1]
    first_seq: Seq
    head: ExportedHead


class ExportedEvent(Line):
    seq: Seq
    ts: Moment
    turn: str | None
    type: str
    body: dict[str, Any]


class Place(NamedTuple):
    """Between two pieces: what comes next, and where the last one ends."""

    after: int
    last: int


def export(journal: Journal, conversation: ConversationId) -> Iterator[str]:
    """All of it."""
    place = None
    while True:
        lines, place = piece(journal, conversation, place)
        yield from lines
        if place is None:
            return


def piece(journal: Journal, conversation: ConversationId, place: Place | None) -> tuple[list[str], Place | None]:
    """Up to the last event at the moment of the first piece; what is appended meanwhile is not in it."""
    lines = []
    if place is None:
        place, header = _beginning(journal, conversation)
        lines.append(header)
    if place.after < place.last:
        page = journal.read(conversation, place.after, PAGE)
        if page is None or page.first_seq > place.after + 1:
            raise UnknownConversation(f"{conversation} was removed or pruned while it was exported")
        wanted = [record for record in page.records if record.seq <= place.last]
        lines += [_line({**asdict(record), "body": json.loads(record.body)}) for record in wanted]
        place = Place(wanted[-1].seq, place.last)
    return lines, place if place.after < place.last else None


def _beginning(journal: Journal, conversation: ConversationId) -> tuple[Place, str]:
    head, page = journal.head(conversation), journal.read(conversation, 0, 1)
    if head is None or page is None:
        raise UnknownConversation(f"no conversation {conversation}")
    fields = asdict(head)
    for name in ("settings", "checkpoint"):
        fields[name] = base64.b64encode(fields[name]).decode()
    header = _line({"greenroom_export": FORMAT, "first_seq": page.first_seq, "head": fields})
    return Place(page.first_seq - 1, head.last_seq), header


@dataclass(frozen=True, slots=True)
class Arriving:
    """A conversation that was read and can be stored."""

    head: Head
    first_seq: int
    records: tuple[Record, ...]


def arriving(lines: Iterable[str], new_id: ConversationId | None = None) -> Arriving:
    """The slow half of an import, which needs no journal. `new_id` gives the conversation another id."""
    numbered = enumerate(lines, 1)
    header = _parsed(Header, *next(numbered, (1, "")))
    head = _head(header.head)
    if new_id is not None:
        head = replace(head, conversation=new_id)
    return Arriving(head, header.first_seq, tuple(_record(number, line) for number, line in numbered))


def import_(journal: SqliteJournal, one: Arriving) -> ConversationId:
    """All of it or nothing. An id that is here already is refused."""
    conversation = one.head.conversation
    if journal.head(conversation) is not None:
        raise InvalidInput(f"conversation {conversation} is here already; import it under a new id")
    journal.adopt(one.head, one.first_seq, one.records)
    return conversation


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _parsed(model: type[Model], number: int, line: str) -> Model:
    try:
        return model.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        member = ".".join(str(part) for part in first["loc"])  # none where the line isn't even JSON
        words = f"{member}: {first['msg']}" if member else first["msg"]
        raise InvalidInput(f"line {number}: {words}", line=number) from None


def _record(number: int, line: str) -> Record:
    event = _parsed(ExportedEvent, number, line)
    if event.body.get("type") != event.type:
        raise InvalidInput(
            f"line {number}: type is {event.type}, the body says {event.body.get('type')}", line=number
        )
    try:
        body = _line(event.body).encode()
    except ValueError as error:  # NaN and its like: Python reads them, JSON doesn't have them
        raise InvalidInput(f"line {number}: body: {error}", line=number) from None
    return Record(event.seq, event.ts, None if event.turn is None else TurnId(event.turn), event.type, body)


def _head(exported: ExportedHead) -> Head:
    fields = exported.model_dump()
    for name in ("settings", "checkpoint"):
        try:
            fields[name] = base64.b64decode(fields[name], validate=True)
        except ValueError as error:  # binascii's error is one too
            raise InvalidInput(f"line 1: head.{name}: {error}", line=1) from None
    return Head(**fields)
