"""The messages of an agent in tests, short enough to read a turn in a line."""

from actors.messages.orders import PendingInput
from actors.vocabulary import events as ev
from actors.vocabulary.ids import ApprovalId, CallId, ItemId
from actors.vocabulary.items import InputItem, TextItem
from tests.support.work import command, command_began, command_ended, command_wrote


def delta(text: str, item: str = "message") -> ev.AgentMessageDelta:
    return ev.AgentMessageDelta(delta=text, item_id=ItemId(item))


def message(text: str, item: str = "message") -> ev.AgentMessage:
    return ev.AgentMessage(message=text, item_id=ItemId(item))


def thought(text: str, item: str = "reasoning") -> ev.AgentReasoningDelta:
    return ev.AgentReasoningDelta(delta=text, item_id=ItemId(item))


def reasoning(text: str, item: str = "reasoning") -> ev.AgentReasoning:
    return ev.AgentReasoning(text=text, item_id=ItemId(item))


def section_break(item: str = "reasoning") -> ev.AgentReasoningSectionBreak:
    return ev.AgentReasoningSectionBreak(item_id=ItemId(item))


def call(item: str = "command") -> ev.ToolCall:
    return ev.ToolCall(call_id=CallId(f"call-{item}"), item_id=ItemId(item), name="shell", arguments="{}")


def output(item: str = "command", text: str = "fine") -> ev.ToolOutput:
    return ev.ToolOutput(call_id=CallId(f"call-{item}"), item_id=ItemId(item), output=text)


def begin(item: str = "command") -> ev.WorkBegan:
    return command_began("ls", call=f"call-{item}", item=item)


def chunk(text: bytes, item: str = "command", *, error: bool = False) -> ev.WorkOutput:
    return command_wrote(text, call=f"call-{item}", item=item, error=error)


def end(item: str = "command", text: str = "", code: int = 0) -> ev.WorkEnded:
    return command_ended(text, code=code, call=f"call-{item}", item=item)


def ask(
    approval: str = "question",
    item: str = "command",
    *,
    words: tuple[str, ...] = ("rm", "x"),
    cwd: str = "/work",
    deadline_s: float | None = None,
) -> ev.ApprovalRequested:
    return ev.ApprovalRequested(
        call_id=CallId(f"call-{item}"),
        item_id=ItemId(item),
        subject=command(*words, cwd=cwd),
        approval_id=ApprovalId(approval),
        outside_sandbox=True,
        deadline_s=deadline_s,
    )


def option(id_: str, kind: str, name: str = "") -> ev.ApprovalOption:
    return ev.ApprovalOption.model_validate({"id": id_, "kind": kind, "name": name or id_})


def ask_use(
    *options: ev.ApprovalOption, approval: str = "question", item: str = "use", fingerprint: str = ""
) -> ev.ApprovalRequested:
    """A third-party agent asks."""
    return ev.ApprovalRequested(
        call_id=CallId("call"),
        agent="claude",
        subject=ev.OtherSubject(),
        agent_call=ev.AgentCall(title="touch x"),
        options=options,
        approval_id=ApprovalId(approval),
        item_id=ItemId(item),
        fingerprint=fingerprint,
    )


def ask_form(*form: ev.FormField, approval: str = "question") -> ev.ApprovalRequested:
    """A server asks."""
    return ev.ApprovalRequested(
        call_id=CallId("call"),
        subject=ev.FormSubject(server="files", message="Which?", form=form),
        approval_id=ApprovalId(approval),
        item_id=ItemId("form"),
    )


def ask_tool(approval: str, tool: str, item: str = "tool", *, fingerprint: str = "as it was") -> ev.ApprovalRequested:
    return ev.ApprovalRequested(
        call_id=CallId("call"),
        subject=ev.ToolSubject(server="files", tool=tool, arguments=""),
        outside_sandbox=True,
        approval_id=ApprovalId(approval),
        item_id=ItemId(item),
        fingerprint=fingerprint,
    )


def ask_patch(approval: str = "question", item: str = "patch") -> ev.ApprovalRequested:
    return ev.ApprovalRequested(
        call_id=CallId(f"call-{item}"),
        item_id=ItemId(item),
        subject=ev.FilesSubject(changes={"/work/a": "delete"}),
        approval_id=ApprovalId(approval),
    )


def patch_begin(item: str = "patch", *, auto: bool = True) -> ev.WorkBegan:
    return ev.WorkBegan(
        call_id=CallId(f"call-{item}"),
        item_id=ItemId(item),
        auto_approved=auto,
        subject=ev.FilesSubject(changes={"/work/a": "delete"}),
    )


def patch_end(item: str = "patch") -> ev.WorkEnded:
    return ev.WorkEnded(call_id=CallId(f"call-{item}"), item_id=ItemId(item), kind="files", status="completed")


def mcp_begin(item: str = "remote") -> ev.WorkBegan:
    return ev.WorkBegan(
        call_id=CallId(f"call-{item}"), item_id=ItemId(item), subject=ev.ToolSubject(server="files", tool="read")
    )


def diff() -> ev.TurnDiff:
    return ev.TurnDiff(unified_diff="--- a\n+++ b\n")


def tokens(total: int = 3) -> ev.TokenCount:
    return ev.TokenCount(input_tokens=total - 1, output_tokens=1, total_tokens=total)


def plan() -> ev.PlanUpdate:
    return ev.PlanUpdate(plan=(ev.PlanStep(step="look", status="pending"),))


def words_of(inputs: tuple[PendingInput, ...]) -> list[str]:
    return [text(one.items) for one in inputs]


def text(items: tuple[InputItem, ...]) -> str:
    return " ".join(item.text for item in items if isinstance(item, TextItem))
