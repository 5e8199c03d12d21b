"""Any event of a type, for rules that hold for all of them."""

from pathlib import Path
from typing import Any, TypeVar

from hypothesis import strategies as st
from pydantic import BaseModel

from actors.vocabulary import events as ev
from actors.vocabulary.items import TextItem
from actors.vocabulary.settings import ReadOnly, Settings

SETTINGS = Settings(model="m", cwd=Path("/work"), sandbox=ReadOnly())
SUBJECTS: tuple[ev.CommandSubject | ev.FilesSubject | ev.ToolSubject | ev.OtherSubject, ...] = (
    ev.CommandSubject(command=("make", "all"), cwd=Path("/work")),
    ev.FilesSubject(changes={"/work/a": "delete", "/work/b": {"add": {"content": "b"}}}),
    ev.ToolSubject(server="files", tool="read", arguments='{"a": 1}'),
    ev.OtherSubject(),
)
MEMBERS: dict[str, st.SearchStrategy[Any]] = {  # that Hypothesis could not make from their types
    "settings": st.just(SETTINGS),
    "items": st.sampled_from([(), (TextItem(text="hi"),)]),
    "path": st.sampled_from([Path("/work/p.png"), Path("p.png")]),
    "cwd": st.sampled_from([Path("/work"), Path("/")]),
    "grant_root": st.sampled_from([None, Path("/work")]),
    "history_of": st.sampled_from([None, Path("/work")]),
    "beyond": st.sampled_from([None, ev.Beyond(says="x")]),
    "deadline_s": st.sampled_from([None, 5.0]),
    "result": st.sampled_from([None, {"content": []}]),
    "arguments": st.sampled_from(["", '{"a": 1}']),
    "agent_call": st.sampled_from(
        [None, ev.AgentCall(title="look", places=(ev.Place(path=Path("/work/a"), line=3),))]
    ),
    "subject": st.sampled_from(SUBJECTS),
}

E = TypeVar("E", bound=ev.BaseEvent)

for _model in vars(ev).values():  # Hypothesis reads signatures, which are made at the first use
    if isinstance(_model, type) and issubclass(_model, BaseModel) and _model is not BaseModel:
        _model.model_rebuild()


def event_of(kind: type[E]) -> st.SearchStrategy[E]:
    return st.builds(kind, **{name: MEMBERS.get(name, ...) for name in kind.model_fields if name != "type"})
