"""`greenroom agents`: list the agents, whether they are installed and logged in, and how to get a missing one.

Needs no daemon. The config and the modules that start programs are imported only when the verb runs, because
completion imports this module too.
"""

import os
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from supervisor.cli.kit import terminal
from supervisor.cli.kit.conversation_rows import home
from supervisor.cli.kit.formatting import clean, one_line, wrap_text
from supervisor.cli.kit.listing import AnswerFields, ListLayout, present
from supervisor.cli.kit.problems import Problem
from supervisor.cli.kit.table import Column, Row

if TYPE_CHECKING:
    from supervisor.config.load import LoadedConfig
    from transports.supervisor_answers import Agent

CHECK_S = 60.0  # some agents load for 10 s on a busy machine, and then ask a server for their login

COLOURS = {"ready": ("green",), "no login": ("yellow",), "missing": ("dim",), "failed": ("red",)}


def _state(row: Row) -> str:
    return f"{row['state']}, default" if row["default"] else str(row["state"])


def _use(row: Row) -> str:
    """The next step, or else the installed program."""
    return one_line(row["next"]) or (clean(home(row["start"][0])) if row["start"] else "")


AGENTS = ListLayout(
    AnswerFields("Agent", more={"check": "What it said when it was started; null without --check."}),
    (
        Column("NAME", lambda row: clean(row["name"])),
        Column("STATE", _state, style=lambda row: COLOURS.get(row["state"], ())),
        Column("PROGRAM OR NEXT STEP", _use, shrinks=True),  # both would fit on no terminal
    ),
    key="name",
)


def run(chosen: Namespace) -> int:
    limit_s = chosen.timeout if chosen.timeout is not None else CHECK_S
    if chosen.agent is None:
        return present(AGENTS, lambda: _rows(_load_config(), None, limit_s, check=chosen.check), chosen)
    rows = _rows(_load_config(), chosen.agent, limit_s, check=chosen.check)
    if chosen.json is None and chosen.format is None and not (chosen.quiet or chosen.watch):
        print("\n".join(_block(rows[0])))
    else:
        present(AGENTS, lambda: rows, chosen)
    return 0 if rows[0]["state"] in {"ready", "installed"} else 1


def _load_config() -> "LoadedConfig":
    from actors.vocabulary.errors import ConfigError
    from supervisor.config.load import load
    from supervisor.logs.setup import silence

    silence()
    try:
        return load(environ=os.environ)
    except ConfigError as error:
        raise Problem(error.message, code=error.code) from error


def _rows(loaded: "LoadedConfig", name: str | None, limit_s: float, *, check: bool) -> list[Row]:
    from actors.vocabulary.errors import ConfigError
    from supervisor.config.agent_definitions import agent_named
    from supervisor.config.agents_here import agents_here

    config = loaded.config
    try:
        _ = agent_named(name, config) if name is not None else ""
    except ConfigError as error:
        raise Problem(error.message.removeprefix("agent: "), code=error.code) from error
    found = [agent for agent in agents_here(config, os.environ, Path.cwd()) if name in {None, agent.name}]
    trials = _try_agents(loaded, [agent.name for agent in found if agent.start], limit_s) if check else {}
    return [_row(agent, trials.get(agent.name)) for agent in found]


def _row(agent: "Agent", trial: Row | None) -> Row:
    from msgspec.structs import asdict

    from supervisor.config.inherited_things import find_inherited

    row: Row = {name: getattr(agent, name, None) for name in AGENTS.fields}
    return {
        **row,
        "start": list(agent.start),
        "own": list(agent.own),
        "state": _state_of(agent, trial),
        "next": _next_step(agent, trial),
        "brings": [asdict(thing) for thing in find_inherited(agent.name, os.environ, Path.cwd())],
        "check": trial,
    }


def _state_of(agent: "Agent", trial: Row | None) -> str:
    """The state after a trial, which misses some logins: some agents ask for theirs at the first prompt only."""
    if trial is None:
        return agent.state
    return "installed" if trial["state"] == "ready" and agent.login == "no" else str(trial["state"])


def _next_step(agent: "Agent", trial: Row | None) -> str:
    from msgspec.structs import replace

    from supervisor.config.agents_here import next_step

    if trial is None:
        return agent.next
    wants = trial["state"] == "no login" or (trial["state"] == "ready" and agent.login == "no")
    return next_step(replace(agent, state="no login")) if wants else str(trial["wrong"])


def _block(row: Row) -> list[str]:
    """The lines about a single agent, one for each fact."""
    lines = [f"{clean(row['name'])}: {clean(row['title'])}, {row['state']}"]
    columns = terminal.size()[0] if terminal.is_terminal() else None
    for title, text in _facts_of(row):
        if text:
            lines += wrap_text(f"  {title:<9} {one_line(text)}", columns, " " * 12)
    return lines


def _facts_of(row: Row) -> list[tuple[str, str]]:
    found = {"yes": f"yes: {home(row['sign'])}", "no": "no key and no file of credentials found"}
    trial = row["check"] or {}
    where = "outside of every sandbox" if row["confine"] == "none" else "in the conversation's sandbox"
    return [
        ("program", " ".join(row["start"]) or row["wrong"]),
        ("login", found.get(row["login"], "unknown; its own program knows")),
        ("next", row["next"] if row["next"] != row["wrong"] else ""),
        ("runs", f"{where}, network {'open' if row['network'] else 'closed'}" if row["start"] else ""),
        ("writes", ", ".join(map(home, row["own"]))),
        *(("brings", f"{thing['what']} ({home(thing['where'])})") for thing in row["brings"]),
        ("says", trial.get("program", "")),
        ("can", ", ".join(trial.get("can", ()))),
        ("modes", ", ".join(trial.get("modes", ()))),
        ("models", ", ".join(trial.get("models", ()))),
        ("logins", ", ".join(trial.get("logins", ()))),
    ]


def _try_agents(loaded: "LoadedConfig", names: list[str], limit_s: float) -> dict[str, Row]:
    """Start the agents in turn: each may take hundreds of megabytes."""
    import asyncio

    return asyncio.run(_run_trials(loaded, names, limit_s))


async def _run_trials(loaded: "LoadedConfig", names: list[str], limit_s: float) -> dict[str, Row]:
    from tempfile import TemporaryDirectory

    from msgspec.structs import asdict

    from actors.vocabulary.settings import ReadOnly
    from supervisor.agents.acp.trial import TrialMeans, try_agent
    from supervisor.agents.environments import CommandEnvironment
    from supervisor.config.agent_definitions import definition_of
    from supervisor.disk.search_paths import writable_folders
    from supervisor.engine.protection import protection
    from supervisor.paths import locate
    from supervisor.work.processes.processes import Processes
    from supervisor.work.sandbox.sandbox import Sandbox

    trials: dict[str, Row] = {}
    writable = writable_folders(ReadOnly(), Path.cwd(), os.environ)
    sandbox = Sandbox(protection(loaded, locate(), os.environ))
    with TemporaryDirectory(prefix="greenroom-") as ledger:
        async with Processes(Path(ledger) / "ledger", ledger, guarded=True) as processes:
            place = TrialMeans(processes, sandbox, loaded.config, CommandEnvironment(os.environ))
            for name in names:
                trial = await try_agent(place, definition_of(name, loaded.config, os.environ, writable), limit_s)
                trials[name] = asdict(trial)
    return trials
