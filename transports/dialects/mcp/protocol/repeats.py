"""Requests that a client says again after their daemon was lost: the same id and arguments are the same turn.

Only what the bridge names as lost can be a repetition: clients number their requests anew in each process, and some
use one id for everything. The key goes with the input into the history, where it is kept for a day.
"""

import json
from hashlib import sha256
from uuid import UUID, uuid4

from msgspec import Struct

from actors.messages.conversation import FindInput
from actors.vocabulary.errors import GreenroomError, UnknownConversation
from actors.vocabulary.ids import ConversationId, RequestId
from transports.dialects.kit.bounded import Bounded
from transports.dialects.kit.identifiers import conversation_id
from transports.dialects.kit.script import Script, command
from transports.jsonrpc import Params


class Saying(Struct, frozen=True):
    """A request that says something. `again`: it was lost before; `where`: in this conversation, if that is known."""

    key: str
    again: bool = False
    where: ConversationId | None = None

    def place(self) -> Script[tuple[ConversationId, bool]]:
        """The conversation for what begins one, and whether it has begun there already.

        Its id follows from the key, so that it is found although nobody was told of it; unless that is taken.
        """
        own = ConversationId(str(UUID(bytes=sha256(self.key.encode()).digest()[:16], version=4)))
        for one in dict.fromkeys((self.where or own, own)):
            try:
                yield from command(one, FindInput(key=self.key))
            except UnknownConversation:
                if one == own:
                    return own, False
            except GreenroomError:
                continue  # there, and without this input
            else:
                if self.again:
                    return one, True
        return ConversationId(str(uuid4())), False


class Repeats:
    def __init__(self, speaker: str) -> None:
        """`speaker` names the client's process, beyond the life of this daemon."""
        self._speaker = speaker
        self._lost: Bounded[RequestId, ConversationId | None] = Bounded()

    def note_lost(self, params: Params) -> None:
        """Note the requests whose answers the client never got. What can't be read is nobody's."""
        named = params.get("requests") if isinstance(params, dict) else None
        for one in named if isinstance(named, list) else ():
            number = one.get("id") if isinstance(one, dict) else None
            if isinstance(number, int | str) and not isinstance(number, bool):
                self._lost[number] = _known(one.get("threadId"))

    def saying(self, request: RequestId, name: str, arguments: object) -> Saying:
        said = json.dumps([self._speaker, request, name, arguments], sort_keys=True)
        key = sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        if request not in self._lost:
            return Saying(key)
        return Saying(key, again=True, where=self._lost.pop(request))


def _known(thread: object) -> ConversationId | None:
    try:
        return conversation_id(thread) if isinstance(thread, str) else None
    except ValueError:
        return None
