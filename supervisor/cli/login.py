"""`greenroom login`: store a model provider's key, or run an agent's own login, in this terminal.

Nothing is sent anywhere. Needs no daemon; a running daemon is told to read the keys.
"""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import termios
from argparse import Namespace
from getpass import getpass
from pathlib import Path
from typing import NamedTuple

from actors.vocabulary.settings import ReadOnly
from supervisor.cli.kit import exits
from supervisor.cli.kit.client import Control, NoDaemon
from supervisor.cli.kit.conversation_rows import home
from supervisor.cli.kit.formatting import clean
from supervisor.cli.kit.problems import Problem
from supervisor.cli.kit.suggestions import advice_on_word
from supervisor.config.load import load
from supervisor.config.providers import definition_of, providers
from supervisor.config.shared_keys import ModelProvider
from supervisor.config.stored_keys import StoredKeys, read_keys, write_keys
from supervisor.config.whole_config import Config
from supervisor.disk.search_paths import drop_writable_entries, writable_folders
from supervisor.work.reach.known_agents import KNOWN_AGENTS, KnownAgent

TRIES = 3
LONGEST = 4096  # characters of a key
NO_TERMINAL = "set the provider's variable instead, such as OPENAI_API_KEY, or run this in a terminal"


class LoginChoice(NamedTuple):
    """A thing to log in to: a provider, or else an agent with its own command."""

    name: str
    title: str
    command: str = ""

    @property
    def line(self) -> str:
        return f"{self.title}, by `{self.command}`" if self.command else f"{self.title}: models of our own agent"


def run(chosen: Namespace) -> int:
    try:
        return _log_in(chosen.name, forget=chosen.forget)
    except EOFError:
        raise Problem("the input has ended, so nothing was stored", "run it again") from None
    except (OSError, ValueError) as error:
        raise Problem(str(error)) from error


def _log_in(name: str | None, *, forget: bool) -> int:
    config = load().config
    ways = [way for way in _ways(config) if name in (None, way.name)]
    if not ways:
        meant = advice_on_word(name or "", (way.name for way in _ways(config)), "")
        raise Problem(f"no provider or agent {name!r}", f"{meant} `greenroom login` lists them".lstrip(), "usage")
    if forget:
        return _forget(config, ways)
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise Problem("`greenroom login` needs a terminal to ask in, and this is none", NO_TERMINAL, "usage")
    way = ways[0] if len(ways) == 1 else _pick(ways)
    return _own_login(way) if way.command else _store(way, config)


def _ways(config: Config) -> list[LoginChoice]:
    models = [LoginChoice(name, definition_of(name, config).name or name) for name in providers(config)]
    return models + [
        LoginChoice(name, known.title, known.login) for name, known in KNOWN_AGENTS.items() if known.login
    ]


def _pick(ways: list[LoginChoice]) -> LoginChoice:
    """Ask for a name, and again where a provider and an agent share the name."""
    by_name = {name: [way for way in ways if way.name == name] for name in dict.fromkeys(way.name for way in ways)}
    if len(by_name) == 1:
        return ways[_number([(way.name, way.line) for way in ways])]
    names = list(by_name)
    chosen = _number([(name, " and ".join(way.line for way in by_name[name])) for name in names])
    meant = by_name[names[chosen]]
    return meant[0] if len(meant) == 1 else _pick(meant)


def _number(choices: list[tuple[str, str]]) -> int:
    names = [name for name, _ in choices]
    for number, (name, line) in enumerate(choices, 1):
        _say(f"{number:3}  {name:12} {line}")
    for _ in range(TRIES):
        answer = _ask("Number or name: ").strip()
        if names.count(answer) == 1:
            return names.index(answer)
        if answer.isascii() and answer.isdigit() and 0 < int(answer) <= len(choices):
            return int(answer) - 1
        _say(f"a number from 1 to {len(choices)}, or one of the names")
    raise Problem("nothing was chosen", "run it again", "usage")


# --- a provider -----------------------------------------------------------------------------------------------------


def _store(way: LoginChoice, config: Config) -> int:
    definition, stored = definition_of(way.name, config), read_keys(os.environ)
    variable, keys = _variable(definition), dict(stored.keys)
    if variable is not None:
        if definition.env_key_instructions:
            _say(clean(definition.env_key_instructions))
        keys[variable] = _key(way)
    path = write_keys(StoredKeys(way.name, keys), os.environ)
    what = f"the key of {way.title} is stored in {home(path)}" if variable else f"{way.title} needs no key"
    _say(f"{what}; new conversations use it.")
    _tell_of_agents(variable)
    _warn_of_others(way, config, variable)
    _tell_the_daemon()
    return exits.OK


def _tell_of_agents(variable: str | None) -> None:
    """Say that the stored key is not given to agents that read the same variable: each has a login of its own."""
    for name in (name for name, known in KNOWN_AGENTS.items() if variable is not None and variable in known.keys):
        title = KNOWN_AGENTS[name].title
        _say(f"It is for our own agent: {title} logs in by `greenroom login {name}`, or by {variable}.")


def _variable(definition: ModelProvider) -> str | None:
    return definition.env_key or ("OPENAI_API_KEY" if definition.requires_openai_auth else None)


def _key(way: LoginChoice) -> str:
    """Ask until the input looks like a key. Further lines are dropped: the next program must not read them."""
    for _ in range(TRIES):
        key = getpass(f"Key of {way.title} (not shown): ", sys.stderr).strip()
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
        if key and key.isascii() and key.isprintable() and " " not in key and len(key) <= LONGEST:
            return key
        _say("that is no key: one word of plain characters is needed" if key else "nothing was entered")
    raise Problem("no key was entered, so nothing was stored", "run it again", "usage")


def _warn_of_others(way: LoginChoice, config: Config, variable: str | None) -> None:
    if config.model_provider not in (None, way.name):
        _say(
            f'the config says model_provider = "{clean(str(config.model_provider))}", which goes before this choice.'
        )
    if variable is not None and os.environ.get(variable, "").strip():
        _say(f"{variable} is set in this shell, and goes before the stored key where it is.")


def _forget(config: Config, ways: list[LoginChoice]) -> int:
    """Forget the keys of these providers."""
    stored = read_keys(os.environ)
    named = {way.name for way in ways if not way.command}
    gone = {_variable(definition_of(name, config)) for name in named} & set(stored.keys)
    provider = "" if stored.provider in named else stored.provider
    if not gone and provider == stored.provider:
        raise Problem("no key is stored for this")
    write_keys(StoredKeys(provider, {name: key for name, key in stored.keys.items() if name not in gone}), os.environ)
    _say("forgotten.")
    _tell_the_daemon()
    return exits.OK


def _tell_the_daemon() -> None:
    """Make a running daemon read the keys, so that open editors go on with them."""
    try:
        with Control("login") as control:
            control.reload()
    except NoDaemon:
        return
    except Problem as problem:
        _say(f"the daemon could not be told: {clean(str(problem))}; `greenroom reload` tells it.")


# --- an agent -------------------------------------------------------------------------------------------------------


def _own_login(way: LoginChoice) -> int:
    words, known = shlex.split(way.command), KNOWN_AGENTS[way.name]
    environ = drop_writable_entries(os.environ, writable_folders(ReadOnly(), Path.cwd(), os.environ))
    program = shutil.which(words[0], path=environ.get("PATH", ""))
    if program is None:
        there = shutil.which(words[0])
        wrong = f"found only at {there}, where turns may write" if there else "not installed"
        how = "install it elsewhere" if there else f"`{known.own_install or known.install}` installs it"
        raise Problem(f"{words[0]} is {wrong}", add_key_hint(f"{how}", known))
    _say(add_key_hint(f"starting `{way.command}`", known))
    code = _run_in_foreground([program, *words[1:]])
    if code:
        how = f"`greenroom agents {way.name}` says whether it works"
        raise Problem(f"`{way.command}` ended with exit code {code}", add_key_hint(how, known))
    return exits.OK


def add_key_hint(words: str, known: KnownAgent) -> str:
    """Add the other way to log the agent in, by a key, where there is one."""
    return f"{words}; a key in {' or '.join(known.keys)} does as well" if known.keys else words


def _run_in_foreground(words: list[str]) -> int:
    """Run a program that has the terminal to itself: Ctrl-C is for that program."""
    before = signal.signal(signal.SIGINT, lambda *_: None)  # not SIG_IGN, which the program would inherit
    try:
        return subprocess.run(words, check=False).returncode  # noqa: S603  # a command of our own table
    finally:
        signal.signal(signal.SIGINT, before)


# --- the terminal ---------------------------------------------------------------------------------------------------


def _ask(question: str) -> str:
    sys.stderr.write(question)
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line


def _say(text: str) -> None:
    print(text, file=sys.stderr)
