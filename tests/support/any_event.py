"""Any event of a type, for rules that hold for all of them; and a type that is new."""

from pathlib import Path
from typing import Any, Literal, TypeVar

from hypothesis import strategies as st
from pydantic import BaseModel

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ApprovalId, CallId, ItemId
from actors.vocabulary.items import TextItem
from actors.vocabulary.settings import Decision, ReadOnly, Settings

SETTINGS = Settings(model="m", cwd=Path("/work"), sandbox=ReadOnly())
MEMBERS: dict[str, st.SearchStrategy[Any]] = {  # that Hypothesis could not make from their types
    "settings": st.just(SETTINGS),
    "items": st.sampled_from([(), (TextItem(text="hi"),)]),
    "path": st.sampled_from([Path("/work/p.png"), Path("p.png")]),
    "cwd": st.sampled_from([Path("/work"), Path("/")]),
    "grant_root": st.sampled_from([None, Path("/work")]),
    "history_of": st.sampled_from([None, Path("/work")]),
    "changes": st.sampled_from([{}, {"/work/a": "delete"}, {"/work/b": {"add": {"content": "b"}}}]),
    "places": st.sampled_from([(), (ev.Place(path=Path("/work/a"), line=3),)]),
    "beyond": st.sampled_from([None, ev.Beyond(says="x")]),
    "deadline_s": st.sampled_from([None, 5.0]),
    "invocation": st.just(ev.McpInvocation(server="files", tool="read")),
    "result": st.sampled_from([{"Ok": {}}, {"Err": "no"}]),
}

E = TypeVar("E", bound=ev.BaseEvent)

for _model in vars(ev).values():  # Hypothesis reads signatures, which are made at the first use
    if isinstance(_model, type) and issubclass(_model, BaseModel) and _model is not BaseModel:
        _model.model_rebuild()


def event_of(kind: type[E]) -> st.SearchStrategy[E]:
    return st.builds(kind, **{name: MEMBERS.get(name, ...) for name in kind.model_fields if name != "type"})


class MountApprovalRequest(ev.ApprovalRequest):
    """An approval of a kind that the program does not know."""

    type: Literal["mount_approval_request"] = "mount_approval_request"
    call_id: CallId = CallId("call")
    item_id: ItemId = ItemId("mount")
    approval_id: ApprovalId = ApprovalId("question")
    reason: str | None = None
    outside_sandbox: bool | None = True
    deadline_s: float | None = None
    default: Literal[Decision.DENIED] = Decision.DENIED
    command: tuple[str, ...] = ("mount", "/dev/sdb")  # so that the text of a question has something to show
    cwd: Path = Path("/")

    @property
    def standing(self) -> ev.Standing:
        return self.command, "anywhere"
