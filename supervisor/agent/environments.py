"""The environment of each conversation's commands: its client's, by policy, in memory. Safe from any thread.

Nothing here is written to disk: after a restart a conversation has the daemon's own until a client attaches again.
"""

import threading
from collections.abc import Mapping

from actors.ids import ConversationId
from supervisor.config.shared import ShellEnvironmentPolicy
from supervisor.environment import command_environment

KEPT = 4096  # conversations; what is told for ids that never existed leaves again too


class Environments:
    def __init__(self, own: Mapping[str, str], policy: ShellEnvironmentPolicy) -> None:
        self._own = dict(own)
        self._policy = policy
        self._of: dict[ConversationId, dict[str, str]] = {}
        self._lock = threading.Lock()

    def follow(self, policy: ShellEnvironmentPolicy) -> None:
        """From the next command on."""
        with self._lock:
            self._policy = policy

    def remember(self, conversation: ConversationId, env: Mapping[str, str]) -> None:
        """The newest client wins, as tmux does it."""
        with self._lock:
            self._of.pop(conversation, None)
            self._of[conversation] = dict(env)
            while len(self._of) > KEPT:
                del self._of[next(iter(self._of))]

    def forget(self, conversation: ConversationId) -> None:
        with self._lock:
            self._of.pop(conversation, None)

    def of(self, conversation: ConversationId) -> Mapping[str, str]:
        """Everything the client had. Keys of providers are looked up here, and in our own where it has none."""
        with self._lock:
            return {**self._own, **self._of.get(conversation, {})}

    def for_commands(self, conversation: ConversationId) -> Mapping[str, str]:
        with self._lock:
            env, policy = self._of.get(conversation, self._own), self._policy
        return command_environment(env, policy)
