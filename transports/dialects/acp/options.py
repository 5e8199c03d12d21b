"""The settings of this dialect: from the config, and from the hello of the bridge. A leaf."""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from actors.vocabulary.settings import BusyPolicy, SandboxMode
from transports.supervisor_requests import Person

NOTHING_SET = Person()
DEFAULTS = ("agent", "model", "profile", "cwd", "approval_policy", "sandbox")


class AcpOptions(Struct, frozen=True):
    """`widest`: the widest sandbox that a client is offered. `first_question`: the id of our first request to it."""

    version: str = "0.0.0"  # of our program, for agentInfo
    instance: str = ""  # the id of this run of the daemon
    if_busy: BusyPolicy = BusyPolicy.STEER
    load_bytes: int = 8 << 20
    widest: SandboxMode = SandboxMode.WORKSPACE_WRITE
    requests_in_flight: int = 64
    subscriptions: int = 256
    first_question: int = 0
    person: Person = NOTHING_SET  # the bridge's own arguments


def with_hello(options: AcpOptions, said: Mapping[str, object]) -> AcpOptions:
    """The options with the hello's `defaults` and `first_question`; values of a wrong type are ignored."""
    first = said.get("first_question")
    if isinstance(first, int) and first > 0:
        options = replace(options, first_question=first)
    defaults = said.get("defaults")
    if not isinstance(defaults, Mapping):
        return options
    texts = {name: defaults[name] for name in DEFAULTS if isinstance(defaults.get(name), str)}
    config = defaults.get("config")
    return replace(options, person=Person(**texts, config=config if isinstance(config, Mapping) else {}))
