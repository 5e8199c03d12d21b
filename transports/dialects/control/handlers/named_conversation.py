"""A query to the conversation that a request names."""

from actors.messages.conversation import Query
from transports.dialects.control.api import params as p
from transports.dialects.kit.script import (
    AnyAnswer,
    Script,
    command,
    conversation_named,
)


def ask_named_conversation(params: p.ConversationParams, query: Query[AnyAnswer]) -> Script[AnyAnswer]:
    conversation = yield from conversation_named(params.conversation)
    return (yield from command(conversation, query))
