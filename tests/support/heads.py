"""The row of a conversation at rest, for tests that store or list one."""

from typing import Any

from msgspec.structs import replace

from actors.vocabulary.conditions import Condition
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import Head


def idle_head(conversation: ConversationId, last_seq: int = 1, **changes: Any) -> Head:
    head = Head(
        conversation=conversation,
        name=None,
        cwd="/",
        model="m",
        state=Condition.IDLE,
        preview="",
        settings=b"{}",
        checkpoint=b"{}",
        checkpoint_seq=0,
        created=0.0,
        updated=0.0,
        last_seq=last_seq,
        generation=1,
    )
    return replace(head, **changes)
