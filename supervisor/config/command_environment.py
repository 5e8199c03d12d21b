"""The environment variables of a conversation's commands.

Pure functions of an environment and a policy; this process's own environment is never read.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import translate
from functools import lru_cache

from supervisor.config.agent_variables import AgentVariables
from supervisor.config.config_problems import HIDDEN_VALUE
from supervisor.config.providers import defined_providers
from supervisor.config.shared_keys import Inherit, ShellEnvironmentPolicy
from supervisor.config.whole_config import Config

CORE = frozenset({"HOME", "LOGNAME", "PATH", "SHELL", "USER", "USERNAME", "TMPDIR", "TEMP", "TMP"})
DEFAULT_EXCLUDES = ("*KEY*", "*SECRET*", "*TOKEN*", "*PASSWORD*", "*PASSWD*", "*PASSPHRASE*", "*CREDENTIAL*")
# Whole words between underscores that mark a secret: MYSQL_PWD, GITHUB_PAT, NPM_AUTH.
SECRET_WORDS = frozenset(
    {*("PASS", "PWD", "PAT", "AUTH", "CREDS", "PRIVATE", "COOKIE", "COOKIES", "JWT", "BEARER"), "AUTHORIZATION"}
)
CLOUDS = ("AWS_", "AZURE_", "GOOGLE_", "GCLOUD_")
HARMLESS = frozenset({"PWD", "OLDPWD", "SSH_AUTH_SOCK"})  # directories, and the socket of an agent that shows no key
NOT_A_WORD = re.compile(r"[^A-Z0-9]+")
LONG_KEY = 16  # characters; such a key is found within a longer value, too: `Bearer …`, an address with the key in it
SECRET_LENGTH = 6  # a shorter key is recognised by its name alone: many variables may have the value `1`


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of configured providers and MCP servers: the variables' names, and the secret values themselves."""

    names: frozenset[str] = frozenset()
    values: frozenset[str] = field(default=frozenset(), repr=False)

    @classmethod
    def from_config(cls, config: Config, environ: Mapping[str, str]) -> "Keys":
        """Collect the keys; those of providers are looked up in `environ`."""
        names, values = set(), set()
        for server in config.mcp_servers.values():
            token = server.bearer_token_env_var
            names |= {*((token,) if token else ()), *server.env_http_headers.values()}
            values |= set(server.http_headers.values())
        for provider in defined_providers(config):
            names |= {*((provider.env_key,) if provider.env_key else ()), *provider.env_http_headers.values()}
            values |= {*provider.http_headers.values(), *provider.query_params.values()}
        values |= {environ[name] for name in names if name in environ}
        return cls(frozenset(names), frozenset(value.strip() for value in values))

    def without_keys(self, environ: Mapping[str, str]) -> dict[str, str]:
        if not (self.names or self.values):
            return dict(environ)
        return {
            name: value for name, value in environ.items() if name not in self.names and not self._holds_a_key(value)
        }

    def _holds_a_key(self, value: str) -> bool:
        plain = value.strip()
        if len(plain) >= SECRET_LENGTH and plain in self.values:
            return True
        return any(len(key) >= LONG_KEY and key in plain for key in self.values)


def command_environment(
    environ: Mapping[str, str], policy: ShellEnvironmentPolicy, keys: Keys = Keys()
) -> dict[str, str]:
    """Inherit, drop, set, keep: in this order, so `set` wins over the excludes but not over `include_only`.

    Keys are dropped under every policy, unless the person sets the variable in `set`.
    """
    match policy.inherit:
        case Inherit.ALL:
            kept = dict(environ)
        case Inherit.CORE:
            kept = {name: value for name, value in environ.items() if name in CORE}
        case Inherit.NONE:
            kept = {}
    dropped = _any_of((*policy.exclude, *(() if policy.ignore_default_excludes else DEFAULT_EXCLUDES)))
    kept = {name: value for name, value in keys.without_keys(kept).items() if not dropped.match(name.upper())}
    if not policy.ignore_default_excludes:
        kept = {name: value for name, value in kept.items() if not _has_secret_word(name)}
    kept.update(
        (name, value) for name, value in policy.set.items() if value != HIDDEN_VALUE
    )  # as in a stored override
    if policy.include_only:
        wanted = _any_of(policy.include_only)
        kept = {name: value for name, value in kept.items() if wanted.match(name.upper())}
    return kept


def agent_environment(
    environ: Mapping[str, str], policy: ShellEnvironmentPolicy, keys: Keys, wanted: AgentVariables
) -> dict[str, str]:
    """Return an agent's variables: those of commands, and its own, even if their names mark secrets."""
    if wanted.inherits_all:
        return dict(environ)
    kept = {
        name: value for name, value in command_environment(environ, policy, keys).items() if _is_outside_clouds(name)
    }
    return {**{name: value for name, value in environ.items() if wanted.has(name, keys.names)}, **kept}


def _is_outside_clouds(name: str) -> bool:
    """Whether a variable gives no access to a cloud, whose parts may have harmless names."""
    return not name.upper().startswith(CLOUDS)


@lru_cache(maxsize=64)  # one entry per policy: each new conversation and each turn looks at all variables
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Compile the patterns into one. Codex's patterns know `*` and `?` only, so a bracket is a bracket."""
    return re.compile("|".join(translate(pattern.upper().replace("[", "[[]")) for pattern in patterns) or "(?!)")


@lru_cache(maxsize=4096)  # one entry per name
def _has_secret_word(name: str) -> bool:
    return name not in HARMLESS and not SECRET_WORDS.isdisjoint(NOT_A_WORD.split(name.upper()))
