"""Names of conversations in requests: UUIDs in four spellings, addresses, ids of approvals. Pure."""

import re
from typing import Annotated
from uuid import UUID, uuid4

from pydantic import AfterValidator

from actors.vocabulary.errors import UnknownApproval
from actors.vocabulary.ids import ConversationId, conversation_of

PREFIX = "greenroom://conversation/"
EVENTS = "/events"
GROUPS = (8, 4, 4, 4, 12)
DIGITS = 32


def conversation_id(text: str) -> ConversationId:
    """The id in lower case with hyphens, from any spelling. Raises ValueError with the reason."""
    bare = text
    if bare.startswith("{") and bare.endswith("}"):
        bare = bare[1:-1]
    elif bare.startswith("urn:uuid:"):
        bare = bare.removeprefix("urn:uuid:")
    wrong = re.search(r"[^0-9a-fA-F-]", bare)
    if wrong is not None:
        place = text.find(bare) + wrong.start() + 1
        raise ValueError(
            "invalid character: expected an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-], "
            f"found `{wrong.group()}` at {place}"
        )
    groups = bare.split("-")
    if len(groups) == 1:
        if len(bare) != DIGITS:
            raise ValueError(f"invalid length: expected length 32 for simple format, found {len(bare)}")
        return ConversationId(str(UUID(bare)))
    if len(groups) != len(GROUPS):
        raise ValueError(f"invalid group count: expected 5, found {len(groups)}")
    for number, (group, length) in enumerate(zip(groups, GROUPS, strict=True)):
        if len(group) != length:
            raise ValueError(f"invalid group length in group {number}: expected {length}, found {len(group)}")
    return ConversationId(str(UUID(bare)))


def fresh_conversation() -> ConversationId:
    return ConversationId(str(uuid4()))


Id = Annotated[ConversationId, AfterValidator(conversation_id)]


def uri_of(conversation: str) -> str:
    return PREFIX + conversation


def named_by(uri: str) -> tuple[ConversationId, bool] | None:
    """The conversation, and whether its events are meant; None for a foreign address."""
    rest = uri.removeprefix(PREFIX)
    try:
        conversation = conversation_id(rest.removesuffix(EVENTS))
    except ValueError:
        return None
    return (conversation, rest.endswith(EVENTS)) if rest != uri else None


def approval_place(approval: str) -> ConversationId:
    """The conversation of an approval, which its id names. Raises UnknownApproval."""
    conversation = conversation_of(approval)
    if conversation is None:
        raise UnknownApproval(f"no approval {approval}")
    return conversation
