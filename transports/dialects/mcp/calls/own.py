"""Our own tools: list, interrupt, read, answer. They work on every conversation there is, whoever began it."""

from collections.abc import Iterable
from typing import Any

from actors.answers import Interrupted
from actors.errors import GreenroomError
from actors.ids import ApprovalId, ConversationId, conversation_of
from actors.messages import AnswerApproval, Interrupt
from actors.records import Head
from actors.registry_messages import ListConversations
from transports import requests as ask
from transports.dialect import Action
from transports.dialects.mcp import arguments
from transports.dialects.mcp.call import Call
from transports.dialects.mcp.decoding import decoded
from transports.dialects.mcp.paging import BadCursor, page_of
from transports.dialects.mcp.references import with_conversation
from transports.dialects.mcp.transcript import as_markdown
from transports.heads import described


def list_conversations(call: Call, given: Any) -> Iterable[Action]:
    wanted = decoded(arguments.ListConversations, given)

    def listed(answer: Any) -> Iterable[Action]:
        if isinstance(answer, GreenroomError):
            return call.tool_error(answer.message)
        heads = [head for head in answer.heads if wanted.cwd in {None, head.cwd}]
        try:
            page, cursor = page_of(heads, wanted.cursor, wanted.limit)
        except BadCursor as error:
            return call.tool_error(f"Invalid arguments for list_conversations: {error}")
        more = {"nextCursor": cursor} if cursor else {}
        return call.tool_payload({"conversations": [row(head) for head in page], **more})

    return call.tell(lambda caller: ListConversations(caller, wanted.archived), listed)


def interrupt_conversation(call: Call, given: Any) -> Iterable[Action]:
    wanted = decoded(arguments.InterruptConversation, given)

    def found(conversation: ConversationId) -> Iterable[Action]:
        def stopped(answer: Any) -> Iterable[Action]:
            if not isinstance(answer, Interrupted):
                return call.tool_error(answer.message)
            hit = answer.turn is not None
            return call.tool_payload({"threadId": conversation, "interrupted": hit, "queued": answer.queued})

        label = call.desk.client.label
        return call.command(conversation, lambda caller: Interrupt(caller, label, message=wanted.reason), stopped)

    return with_conversation(call, wanted.thread_id, found, lambda why: call.tool_error(why.message))


def read_conversation(call: Call, given: Any) -> Iterable[Action]:
    wanted = decoded(arguments.ReadConversation, given)

    def found(conversation: ConversationId) -> Iterable[Action]:
        def read(answer: Any) -> Iterable[Action]:
            if not isinstance(answer, ask.HistoryRead):
                return call.tool_error(answer.message)
            records = answer.page.records
            text = as_markdown(records)
            payload = {
                "threadId": conversation,
                "text": text,
                "after": records[-1].seq if records else wanted.after,
                "complete": answer.page.complete,
            }
            return call.finish({"content": [{"text": text, "type": "text"}], "structuredContent": payload})

        return call.ask(lambda token: ask.ReadHistory(token, conversation, wanted.after, wanted.limit), read)

    return with_conversation(call, wanted.thread_id, found, lambda why: call.tool_error(why.message))


def answer_approval(call: Call, given: Any) -> Iterable[Action]:
    wanted = decoded(arguments.AnswerApproval, given)
    conversation = conversation_of(wanted.approval_id)
    if conversation is None:
        return call.tool_error(f"no approval {wanted.approval_id}")

    def answered(answer: Any) -> Iterable[Action]:
        if isinstance(answer, GreenroomError):
            return call.tool_error(answer.message)
        return call.tool_payload({"approvalId": answer.approval, "decision": answer.decision.value})

    approval, label = ApprovalId(wanted.approval_id), call.desk.client.label
    return call.command(
        conversation,
        lambda caller: AnswerApproval(caller, approval, wanted.decision, label, wanted.reason),
        answered,
    )


def row(head: Head) -> dict[str, Any]:
    return {"threadId": head.conversation, **described(head)}
