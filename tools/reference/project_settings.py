"""The page of the project files that other programs obey, from the table by which commands are held back."""

from collections.abc import Iterable

from supervisor.work.reach.project_settings import TABLE

HEAD = """# What other programs obey in a project

This page is written from the code by `make reference`.

Agents, editors and shells read files in a project that start programs or make them ask less, and obey them the next
time that they are started there, outside of every sandbox. For whatever works in a conversation these are what `.git`
is: to be read, and changed only when a person was asked. What that means is in
[processes](../processes.md#the-sandbox) and [patches and safety](../patches-and-safety.md#what-other-programs-obey).

A name counts in a project's own folder and in every folder below it, whatever its case. What is *held* can't come to
be while something runs that may write; an empty folder stands in its place. The others are looked for while it runs
and afterwards, and set aside.

| who obeys it | held | looked for | what it says |
|---|---|---|---|
"""

TAIL = """
## What is not here, and why

- **Words**: `AGENTS.md`, `CLAUDE.md`, `GEMINI.md`, `.cursorrules`, `.goosehints`, `.github/copilot-instructions.md`.
  Agents edit them every day, on purpose. They may mislead a model, but start nothing by themselves.
- **`.env`**: data of the project's own programs, which set-up scripts write. Gemini CLI and some editors put it into
  their environment: look at it before you start them where you don't trust what wrote it.
- **What a person starts**: scripts, `Makefile`, `package.json`, `.npmrc`, build files, `.run`, what a hook calls.
- **What asks first**: `.dir-locals.el` of Emacs, `.gdbinit`; and what runs elsewhere: `.github/workflows`.
- **Packages of others**: nothing is looked for in `node_modules`, `.venv` and the like.
"""


def project_settings_page() -> str:
    rows = (f"| {row.who} | {_names(row.folders)} | {_names(row.others)} | {row.why} |\n" for row in TABLE)
    return HEAD + "".join(rows) + TAIL


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
