"""Params of the methods, and errors about invalid params, for people."""

from pathlib import PurePosixPath
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from actors.vocabulary.settings import BusyPolicy
from transports.jsonrpc import JsonObject
from transports.supervisor_requests import GivenServer

Params = TypeVar("Params", bound=BaseModel)

SESSION_LENGTH = 200  # characters; ours have 36
MOST_SERVERS = 64
MOST_DIRECTORIES = 64


def decode(model: type[Params], value: object) -> Params:
    """Validate; raises ValueError with the first problem."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        problem = first["msg"].removeprefix("Value error, ")
        raise ValueError(f"{place}: {problem}" if place else problem) from None


def _absolute(path: str) -> str:
    if not path.startswith("/"):
        raise ValueError(f"{path[:SESSION_LENGTH]!a} is not an absolute path")
    if "\0" in path:
        raise ValueError("a path has no NUL character")
    return str(PurePosixPath(path))


def _object(value: object) -> object:
    """Read null as an empty object."""
    return {} if value is None else value


def _null_as_empty(value: object) -> object:
    """Read null as an empty list."""
    return () if value is None else value


AbsolutePath = Annotated[str, AfterValidator(_absolute)]
Directories = Annotated[tuple[AbsolutePath, ...], BeforeValidator(_null_as_empty), Field(max_length=MOST_DIRECTORIES)]
SessionId = Annotated[str, Field(max_length=SESSION_LENGTH)]
Meta = Annotated[JsonObject, BeforeValidator(_object)]


class AcpParams(BaseModel):
    """Unknown members are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True, alias_generator=to_camel)

    meta: Meta = Field({}, alias="_meta")


class IgnoredParams(AcpParams):
    model_config = ConfigDict(extra="allow")


# --- sessions -------------------------------------------------------------------------------------------------------


class Pair(AcpParams):
    name: Annotated[str, Field(min_length=1)]
    value: str


class EditorMcpServer(AcpParams):
    """A server that the client wants the agent to have, in one of three shapes."""

    name: Annotated[str, Field(min_length=1, max_length=SESSION_LENGTH)]
    type: Literal["stdio", "http", "sse"] = "stdio"
    command: str = ""
    args: tuple[str, ...] = ()
    env: Annotated[tuple[Pair, ...], BeforeValidator(_null_as_empty)] = ()
    url: str = ""
    headers: Annotated[tuple[Pair, ...], BeforeValidator(_null_as_empty)] = ()

    def to_given_server(self) -> GivenServer:
        """The server for the supervisor. Raises ValueError if it could not be started or reached."""
        if self.type == "stdio" and not self.command:
            raise ValueError(f"mcpServers: {self.name!a} has no command")
        if self.type != "stdio" and not self.url.startswith(("http://", "https://")):
            raise ValueError(f"mcpServers: {self.name!a} has no address that begins with http:// or https://")
        return GivenServer(
            self.name,
            kind=self.type,
            command=(self.command, *self.args) if self.type == "stdio" else (),
            env={variable.name: variable.value for variable in self.env},
            url=self.url if self.type != "stdio" else "",
            headers={header.name: header.value for header in self.headers},
        )


def _of_servers(servers: tuple[EditorMcpServer, ...]) -> tuple[EditorMcpServer, ...]:
    names = [server.name for server in servers]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"there are two servers with the name {twice!a}")
    for server in servers:
        server.to_given_server()
    return servers


Servers = Annotated[
    tuple[EditorMcpServer, ...],
    BeforeValidator(_null_as_empty),
    Field(max_length=MOST_SERVERS),
    AfterValidator(_of_servers),
]


class NewSessionParams(AcpParams):
    cwd: AbsolutePath
    mcp_servers: Servers = ()
    additional_directories: Directories = ()


class OpenSessionParams(AcpParams):
    """For `session/load`, `session/resume` and `session/fork`. The session keeps its own directory."""

    session_id: SessionId
    cwd: AbsolutePath | None = None
    mcp_servers: Servers = ()
    additional_directories: Directories = ()


class AttachSessionParams(AcpParams):
    """A request of our bridge, for a session that its client has open."""

    session_id: SessionId
    after: Annotated[int, Field(ge=0)] = 0
    shown: Annotated[dict[str, Annotated[int, Field(ge=0)]], BeforeValidator(_object)] = {}
    mcp_servers: Servers = ()


class SessionParams(AcpParams):
    session_id: SessionId


class ListSessionsParams(AcpParams):
    cwd: AbsolutePath | None = None
    cursor: str | None = None


class SetModeParams(AcpParams):
    session_id: SessionId
    mode_id: str


class SetOptionParams(AcpParams):
    session_id: SessionId
    config_id: str
    value: object


# --- prompts --------------------------------------------------------------------------------------------------------


class Resource(AcpParams):
    uri: str
    text: str | None = None
    blob: str | None = None
    mime_type: str | None = None


class PromptBlock(AcpParams):
    """A piece of a prompt. Its members depend on its type."""

    type: str
    text: str | None = None
    data: str | None = None
    mime_type: str | None = None
    uri: str | None = None
    name: str | None = None
    resource: Resource | None = None


class PromptMeta(AcpParams):
    if_busy: BusyPolicy | None = None


class PromptParams(AcpParams):
    session_id: SessionId
    prompt: Annotated[tuple[PromptBlock, ...], Field(min_length=1)]

    @property
    def if_busy(self) -> BusyPolicy | None:
        """The policy of this prompt alone. Raises ValueError if it is invalid."""
        ours = self.meta.get("greenroom")
        return decode(PromptMeta, ours).if_busy if isinstance(ours, dict) else None


class SteerParams(PromptParams):
    """`idle_behavior`: the reaction if no turn runs."""

    idle_behavior: Literal["promptRequired", "startNewTurn"] | None = None


class CancelRequestParams(AcpParams):
    request_id: int | str
