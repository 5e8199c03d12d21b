"""The environment of each conversation's commands: its client's, by policy, in memory. Safe from any thread.

Nothing here is written to disk: after a restart a conversation has the daemon's own until a client attaches again.
"""

import threading
from collections import Counter
from collections.abc import Mapping

import structlog

from actors.ids import ConversationId
from supervisor.config.shared import ShellEnvironmentPolicy
from supervisor.environment import command_environment
from transports.environments import size_of

log = structlog.get_logger()

KEPT = 4096  # conversations; what is told for ids that never existed leaves again too
KEPT_BYTES = 64 << 20  # of those that differ: equal ones are one, as the clients' are


class Environments:
    def __init__(self, own: Mapping[str, str], policy: ShellEnvironmentPolicy, kept_bytes: int = KEPT_BYTES) -> None:
        self._own = dict(own)
        self._policy = policy
        self._kept_bytes = kept_bytes
        self._of: dict[ConversationId, Mapping[str, str]] = {}  # nobody changes what a client has told
        self._uses: Counter[int] = Counter()  # conversations by the environment's identity
        self._size = 0  # of those that differ
        self._lock = threading.Lock()

    def remember(self, conversation: ConversationId, env: Mapping[str, str]) -> None:
        """The newest client wins, as tmux does it."""
        with self._lock:
            self._drop(conversation)
            self._of[conversation] = env
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
        env = self._of.pop(conversation, None)
        if env is None:
            return
        self._uses[id(env)] -= 1
        if not self._uses[id(env)]:
            del self._uses[id(env)]
            self._size -= size_of(env)

    def of(self, conversation: ConversationId) -> Mapping[str, str]:
        """Everything the client had. Keys of providers are looked up here, and in our own where it has none."""
        with self._lock:
            return {**self._own, **self._of.get(conversation, {})}

    def for_commands(self, conversation: ConversationId) -> Mapping[str, str]:
        with self._lock:
            env = self._of.get(conversation, self._own)
        return command_environment(env, self._policy)
