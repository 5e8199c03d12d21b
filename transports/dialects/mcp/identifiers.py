"""Conversation ids as clients write them: UUIDs in four spellings, and what to say to one that is none. Pure."""

import re
from uuid import UUID

from actors.ids import ConversationId

GROUPS = (8, 4, 4, 4, 12)
DIGITS = 32


def conversation_id(text: str) -> ConversationId:
    """Lower-case and hyphenated, whatever was written. Raises ValueError with the reason."""
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
