"""The page of the files that agents, editors and shells obey in a project, from the table that closes them."""

from collections.abc import Iterable

from supervisor.work.reach.project_settings import TABLE

HEAD = """# Files that other programs obey in a project

This page is written from the code by `make reference`.

Agents, editors and shells read files in a project that start programs or make them ask less, and obey them the next
time that they are started there, outside of every sandbox. So a conversation may read them, like `.git`, and change
them only when a person was asked: see [processes](../processes.md#files-that-git-obeys) and [patches and
safety](../patches-and-safety.md#files-that-other-programs-obey).

A name counts in a project's own folder and in every folder below it, in upper and lower case. A *held* folder can't
be made while a command or an agent runs; an empty one stands in its place. The others are looked for while it runs
and afterwards, and set aside.

| program | held | looked for | effect |
|---|---|---|---|
"""

TAIL = """
## Not in the table, and why

- **Words**: `AGENTS.md`, `CLAUDE.md`, `GEMINI.md`, `.cursorrules`, `.goosehints`, `.github/copilot-instructions.md`.
  Agents edit them every day, on purpose. They may mislead a model, but start nothing by themselves.
- **`.env`**: data of the project's own programs, which set-up scripts write. Gemini CLI and some editors put it into
  their environment: look at it before you start them where you don't trust its writer.
- **Programs that a person starts**: scripts, `Makefile`, `package.json`, `.npmrc`, build files, `.run`, hooks.
- **Files that are asked about first** (Emacs's `.dir-locals.el`, `.gdbinit`), or run elsewhere: `.github/workflows`.
- **Foreign packages**: nothing is looked for in `node_modules`, `.venv` and the like.
"""


def project_settings_page() -> str:
    rows = (f"| {row.who} | {_names(row.folders)} | {_names(row.others)} | {row.why} |\n" for row in TABLE)
    return HEAD + "".join(rows) + TAIL


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
