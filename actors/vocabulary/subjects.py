"""The subjects of work and of questions: a command, a change of files, a tool, a search, a picture, a form. A leaf.

A subject's `kind` says which it is. Work of a third-party agent has such a subject too, and beside it the call as the
agent describes it.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from actors.vocabulary.event_bases import FileChange, FormField, Whole
from actors.vocabulary.settings import FROZEN

Purpose = Literal["reads", "lists", "searches", "formats", "tests", "lints", "nothing", "unknown"]


class CommandHint(BaseModel):
    """The purpose of a command, or of one in a script: for display, and never a reason to let it run."""

    model_config = FROZEN
    cmd: str = Field(description="The command.")
    purpose: Purpose = Field("unknown", description="What it seems to do.")
    name: str | None = Field(None, description="The name of the file that it reads.")
    path: str | None = Field(None, description="The place that it lists or searches.")
    query: str | None = Field(None, description="The text that it searches for.")
    tool: str | None = Field(None, description="The formatter.")
    targets: tuple[str, ...] | None = Field(None, description="The files that it formats.")


class CommandSubject(BaseModel):
    """A command that runs or would run."""

    model_config = FROZEN
    kind: Literal["command"] = Field("command", description="Which subject it is.")
    command: tuple[str, ...] = Field((), description="Its words; empty where an agent does not say them.")
    cwd: Path | None = Field(None, description="Its directory, if that is known.")
    hints: tuple[CommandHint, ...] = Field((), description="Hints for display.")
    tool: str = Field("", description="The tool that looks at files without a program; empty: a program runs.")
    changes: dict[str, FileChange] = Field(
        default_factory=dict, description="Absolute path → the change of that file, where its agent shows such."
    )


class FilesSubject(BaseModel):
    """A change of files."""

    model_config = FROZEN
    kind: Literal["files"] = Field("files", description="Which subject it is.")
    changes: dict[str, FileChange] = Field(description="Absolute path → the change of that file.")


class ToolSubject(BaseModel):
    """A tool of an MCP server. Servers run outside of every sandbox."""

    model_config = FROZEN
    kind: Literal["tool"] = Field("tool", description="Which subject it is.")
    server: str = Field(description="The server, by its name in the config.")
    tool: str = Field(description="Its tool.")
    arguments: Any = Field(
        None, description="The arguments; in a question as JSON text, in which the middle of a long one is left out."
    )


class SearchSubject(BaseModel):
    """A search of the web, which the model's provider makes."""

    model_config = FROZEN
    kind: Literal["search"] = Field("search", description="Which subject it is.")
    query: str = Field("", description="The words, or the page that was opened; empty where unknown.")
    wire: Literal["responses", "messages"] = Field("responses", description="The wire that it came on.")
    model: str = Field("", description="The model that searched.")
    kept: str = Field("", description="The provider's own items, a JSON list, which go back with later requests.")


class PictureSubject(BaseModel):
    """A picture in a file, which the model looks at."""

    model_config = FROZEN
    kind: Literal["picture"] = Field("picture", description="Which subject it is.")
    path: Path = Field(description="The file.")


class OtherSubject(BaseModel):
    """Work of a third-party agent that is neither a command nor a change of files: its own words say more."""

    model_config = FROZEN
    kind: Literal["other"] = Field("other", description="Which subject it is.")


class FormSubject(BaseModel):
    """A question of an MCP server in the middle of a call. Approved: accepted, with what it was told."""

    model_config = FROZEN
    kind: Literal["form"] = Field("form", description="Which subject it is.")
    server: str = Field(description="The server that asks, by its name in the config.")
    message: str = Field(description="Its question.")
    fields: tuple[str, ...] = Field((), description="What it wants to be told, a line each, with what is sent.")
    form: tuple[FormField, ...] = Field((), description="The same for programs.")
    url: str | None = Field(None, description="The page that it wants the person to visit; we never open it.")


WorkSubject = Annotated[
    CommandSubject | FilesSubject | ToolSubject | SearchSubject | PictureSubject | OtherSubject,
    Field(discriminator="kind"),
]
QuestionSubject = Annotated[
    CommandSubject | FilesSubject | ToolSubject | OtherSubject | FormSubject, Field(discriminator="kind")
]
WorkKind = Literal["command", "files", "tool", "search", "picture", "other"]

ToolSort = Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"]


class Place(BaseModel):
    """A file that a tool looks at or changes."""

    model_config = FROZEN
    path: Path = Field(description="The file.")
    line: Whole | None = Field(None, description="A line in it, from 1.")


class AgentCall(BaseModel):
    """A call as the third-party agent that makes it describes it."""

    model_config = FROZEN
    title: str = Field("", description="The call in the agent's words.")
    sort: ToolSort = Field("other", description="The sort of tool.")
    places: tuple[Place, ...] = Field((), description="The files that it is about.")
    arguments: str = Field("", description="Its arguments as JSON; the middle of a long text is left out.")


class ApprovalOption(BaseModel):
    """An answer that the agent offers."""

    model_config = FROZEN
    id: str = Field(description="The agent's id of it.")
    name: str = Field(description="What it means, in the agent's words.")
    kind: Literal["allow_once", "allow_always", "reject_once", "reject_always"] = Field(
        description="always: the agent does not ask again for what it takes to be the same."
    )
    rule: str = Field(
        "",
        description="Whose rule an `always` makes, for what, where and until when. Such an option is sent to the "
        "agent only where an answer names it. Empty: it is about this one call.",
    )


class FurtherChange(BaseModel):
    model_config = FROZEN
    path: str = Field(description="The file.")
    change: FileChange = Field(description="What would become of it.")


class Beyond(BaseModel):
    """A part of a question that neither its command nor its changes show."""

    model_config = FROZEN
    given: str = Field("", description="Arguments, as JSON; the middle of a long text is left out.")
    says: str = Field("", description="Words that the agent shows with the call.")
    changes: tuple[FurtherChange, ...] = Field(
        (), description="Changes for which `changes` has no room: too many files, or another of the same file."
    )
