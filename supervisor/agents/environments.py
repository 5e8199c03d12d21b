"""The environment and umask that commands of each conversation start with: its client's, in memory. Any thread.

Nothing here is written to disk: after a restart a conversation has the daemon's own environment and the usual
umask, until a client attaches again.
"""

import threading
from collections import Counter
from collections.abc import Mapping

import structlog
from msgspec import Struct

from actors.vocabulary.ids import ConversationId
from supervisor.config.command_environment import Keys, command_environment
from supervisor.config.whole_config import Config
from supervisor.disk.umask import USUAL
from transports.environments import size_of

log = structlog.get_logger()

KEPT = 4096  # conversations; entries for ids that never existed are dropped in turn, too
KEPT_BYTES = 64 << 20  # of environments that differ: those that are the same object count once


class CommandEnvironment(Struct, frozen=True):
    """An environment and a umask. `env` holds secrets, so no repr shows it."""

    env: Mapping[str, str]
    umask: int = USUAL

    def __repr__(self) -> str:
        return f"{type(self).__name__}(umask={self.umask:#o})"

    @classmethod
    def of_client(cls, env: Mapping[str, str], umask: int | None) -> "CommandEnvironment":
        """Take a client's values without a copy, as they are never changed. Older clients send no umask."""
        return cls(env, USUAL if umask is None else umask)

    def for_commands(self, config: Config, looked_up: Mapping[str, str]) -> "CommandEnvironment":
        """Apply the config's policy and drop the keys that it names. Their values are found in `looked_up`."""
        env = command_environment(self.env, config.shell_environment_policy, Keys.from_config(config, looked_up))
        return CommandEnvironment(env, self.umask)


class FilteredEnvironment(Struct, frozen=True):
    """The part of a client's environment that a config leaves for commands."""

    config: Config
    env: Mapping[str, str]

    def __repr__(self) -> str:
        return "ForCommands()"


class Environments:
    def __init__(self, own: Mapping[str, str], kept_bytes: int = KEPT_BYTES) -> None:
        self._own = CommandEnvironment(dict(own))
        self._kept_bytes = kept_bytes
        self._of: dict[ConversationId, CommandEnvironment] = {}
        self._uses: Counter[int] = Counter()  # conversations by the environment's identity
        self._for_commands: dict[int, FilteredEnvironment] = {}  # by the same, of those in use and our own
        self._whole: dict[int, Mapping[str, str]] = {}  # the same, over our own
        self._size = 0  # of environments that differ
        self._lock = threading.Lock()

    def remember(self, conversation: ConversationId, env: Mapping[str, str], umask: int | None = None) -> None:
        """Remember a client's environment. The newest client wins, as in tmux."""
        around = CommandEnvironment.of_client(env, umask)
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
            self._for_commands.pop(id(env), None)
            self._whole.pop(id(env), None)
            self._size -= size_of(env)

    def variables_of(self, conversation: ConversationId) -> Mapping[str, str]:
        """Return the client's whole environment, over the daemon's own. Provider keys are looked up here.

        The same object is returned until another client comes.
        """
        env = self._environment_of(conversation).env
        whole = self._whole.get(id(env))
        if whole is None:
            whole = {**self._own.env, **env}
            with self._lock:
                if self._is_kept(env):
                    self._whole[id(env)] = whole
        return whole

    def _is_kept(self, env: Mapping[str, str]) -> bool:
        """Tell whether the environment is still kept. Under the lock."""
        return env is self._own.env or id(env) in self._uses

    def whole_environment(self, conversation: ConversationId) -> CommandEnvironment:
        """Return the client's whole environment with its umask."""
        return CommandEnvironment(self.variables_of(conversation), self._environment_of(conversation).umask)

    def for_commands(self, conversation: ConversationId, config: Config) -> CommandEnvironment:
        """Return the client's environment for commands, or the daemon's where there is no client.

        It is worked out once for a client and a config, because every turn asks for it.
        """
        around = self._environment_of(conversation)
        known = self._for_commands.get(id(around.env))
        if known is None or known.config is not config:
            known = FilteredEnvironment(config, around.for_commands(config, self.variables_of(conversation)).env)
            with self._lock:
                if self._is_kept(around.env):
                    self._for_commands[id(around.env)] = known
        return CommandEnvironment(known.env, around.umask)

    def for_notices(self, conversation: ConversationId, config: Config) -> CommandEnvironment:
        """Return the environment for the person's own program: all but the keys."""
        around, env = self._environment_of(conversation), self.variables_of(conversation)
        return CommandEnvironment(Keys.from_config(config, env).without_keys(env), around.umask)

    def _environment_of(self, conversation: ConversationId) -> CommandEnvironment:
        with self._lock:
            return self._of.get(conversation, self._own)
