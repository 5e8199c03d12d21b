"""What commands of each conversation start with: its client's environment and umask, in memory. Any thread.

Nothing here is written to disk: after a restart a conversation has the daemon's own environment, and the usual umask,
until a client attaches again.
"""

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import structlog

from actors.ids import ConversationId
from supervisor.config import Config
from supervisor.config.complain import HIDDEN
from supervisor.environment import Keys, command_environment
from supervisor.umask import USUAL
from transports.environments import size_of

log = structlog.get_logger()

KEPT = 4096  # conversations; what is told for ids that never existed leaves again too
KEPT_BYTES = 64 << 20  # of those that differ: equal ones are one, as the clients' are


@dataclass(frozen=True, slots=True)
class Around:
    """`env` has values that are nobody's business, so it is in no repr."""

    env: Mapping[str, str] = field(repr=False)
    umask: int = USUAL

    @classmethod
    def of_client(cls, env: Mapping[str, str], umask: int | None) -> "Around":
        """Older clients don't say their umask. Nobody changes what a client has told, so it is not copied."""
        return cls(env, USUAL if umask is None else umask)

    def for_commands(self, config: Config, looked_up: Mapping[str, str]) -> "Around":
        """By the config's policy, and without what it names as keys; `looked_up` is where their values are found."""
        policy = config.shell_environment_policy
        told = {name: value for name, value in policy.set.items() if value != HIDDEN}  # an override that was stored
        env = command_environment(self.env, policy.model_copy(update={"set": told}), Keys.of(config, looked_up))
        return Around(env, self.umask)


class Environments:
    def __init__(self, own: Mapping[str, str], kept_bytes: int = KEPT_BYTES) -> None:
        self._own = Around(dict(own))
        self._kept_bytes = kept_bytes
        self._of: dict[ConversationId, Around] = {}
        self._uses: Counter[int] = Counter()  # conversations by the environment's identity
        self._size = 0  # of those that differ
        self._lock = threading.Lock()

    def remember(self, conversation: ConversationId, env: Mapping[str, str], umask: int | None = None) -> None:
        """The newest client wins, as tmux does it."""
        around = Around.of_client(env, umask)
        with self._lock:
            self._drop(conversation)
            self._of[conversation] = around
            self._uses[id(env)] += 1
            self._size += size_of(env) if self._uses[id(env)] == 1 else 0
            while len(self._of) > KEPT or (self._size > self._kept_bytes and len(self._of) > 1):
                oldest = next(iter(self._of))
                log.warning("environments.forgotten", conversation=oldest, kept=len(self._of))
                self._drop(oldest)

    def forget(self, conversation: ConversationId) -> None:
        with self._lock:
            self._drop(conversation)

    def _drop(self, conversation: ConversationId) -> None:
        around = self._of.pop(conversation, None)
        if around is None:
            return
        env = around.env
        self._uses[id(env)] -= 1
        if not self._uses[id(env)]:
            del self._uses[id(env)]
            self._size -= size_of(env)

    def of(self, conversation: ConversationId) -> Mapping[str, str]:
        """Everything the client had. Keys of providers are looked up here, and in our own where it has none."""
        return {**self._own.env, **self._around(conversation).env}

    def for_commands(self, conversation: ConversationId, config: Config) -> Around:
        """The client's, or ours where it has none."""
        return self._around(conversation).for_commands(config, self.of(conversation))

    def for_notices(self, conversation: ConversationId, config: Config) -> Around:
        """For the person's own program: all but the keys."""
        around, env = self._around(conversation), self.of(conversation)
        return Around(Keys.of(config, env).left_out_of(env), around.umask)

    def _around(self, conversation: ConversationId) -> Around:
        with self._lock:
            return self._of.get(conversation, self._own)
