"""The entries for editors that speak ACP, tried as far as possible without the editors.

Neovim and Emacs read their entries themselves, with little modules in place of the plugins. What an entry starts is
started with the variables that its editor passes on, and must open a session with the provider whose key it names.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.docs.pages import DOCS, Block, blocks
from tests.faults.editor import Editor

PAGE = DOCS / "how-to" / "editors.md"
THEIRS, OTHERS = "\n## Editors that speak ACP\n", "\n## Editors and agents that speak MCP\n"
KEY = "sk-of-this-test"
READ_S = 20.0

# A plugin's setup that prints what it was given; `extend` answers like CodeCompanion's, without the other's members.
NEOVIM = """
local function told(entry) io.stdout:write(vim.json.encode(entry)) end
package.preload["codecompanion.adapters"] = function()
  return { extend = function(base, more) assert(base == "opencode"); return more end }
end
package.preload["codecompanion"] = function()
  return { setup = function(given)
    local chosen = given.interactions.chat.adapter
    local adapter = given.adapters.acp[chosen]()
    assert(adapter.name == chosen)
    told({ command = adapter.commands.default[1], args = vim.list_slice(adapter.commands.default, 2) })
  end }
end
package.preload["avante"] = function()
  return { setup = function(given) told(given.acp_providers[given.provider]) end }
end
"""
EMACS = """
(require 'cl-lib)
(require 'json)
(defvar agent-shell-agent-configs nil)
(cl-defun agent-shell-make-agent-config (&key identifier mode-line-name buffer-name shell-prompt shell-prompt-regexp
                                              client-maker)
  (list identifier mode-line-name buffer-name shell-prompt shell-prompt-regexp client-maker))
(cl-defun acp-make-client (&key command command-params context-buffer)
  (list (cons 'command command) (cons 'args (vconcat command-params)) (cons 'buffer (buffer-name context-buffer))))
(provide 'agent-shell)
(load (expand-file-name "entry.el") nil t)
(princ (json-encode (funcall (car (last (car agent-shell-agent-configs))) (current-buffer))))
"""


class Entry(NamedTuple):
    """The program that an editor starts, and its variables."""

    command: str
    args: list[str]
    env: Mapping[str, str]


def shell(home: Path) -> dict[str, str]:
    """The variables of a person's shell, which an editor in a terminal inherits."""
    return {
        "HOME": str(home), "LOGNAME": "you", "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "SHELL": "/bin/sh", "TERM": "xterm", "USER": "you", "OPENAI_API_KEY": KEY,
    }  # fmt: skip


def window(home: Path) -> dict[str, str]:
    """The variables of a program with a window: no shell has added the key."""
    return {name: value for name, value in shell(home).items() if name != "OPENAI_API_KEY"}


def json_entry(block: Block, home: Path, *members: str) -> Entry:
    tree = json.loads(block.text)
    assert list(tree) == ["agent_servers"]
    (server,) = tree["agent_servers"].values()
    assert set(server) == {"command", "args", "env", *members}
    assert server.get("type", "custom") == "custom"
    return Entry(server["command"], server["args"], {**window(home), **server["env"]})


def zed(block: Block, home: Path) -> Entry:
    return json_entry(block, home, "type")


def jetbrains(block: Block, home: Path) -> Entry:
    return json_entry(block, home)


def neovim(block: Block, home: Path) -> Entry:
    entry = home / "entry.lua"
    entry.write_text(NEOVIM + block.text, encoding="utf-8")
    told = json.loads(run(["nvim", "--headless", "-u", "NONE", "-c", f"luafile {entry}", "-c", "qa!"], home))
    if "env" not in told:
        return Entry(told["command"], told["args"], shell(home))
    return Entry(told["command"], told["args"], {"PATH": shell(home)["PATH"], **told["env"]})


def emacs(block: Block, home: Path) -> Entry:
    (home / "entry.el").write_text(block.text, encoding="utf-8")
    (home / "plugin.el").write_text(EMACS, encoding="utf-8")
    told = json.loads(run(["emacs", "-Q", "--batch", "-l", "plugin.el"], home))
    assert told["buffer"]
    return Entry(told["command"], told["args"], shell(home))


def run(command: list[str], home: Path) -> str:
    """Run an editor that reads its entry; what it prints."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not here")
    done = subprocess.run(
        command, cwd=home, env=shell(home), capture_output=True, text=True, timeout=READ_S, check=True
    )
    return done.stdout or done.stderr


EDITORS: dict[str, tuple[str, Callable[[Block, Path], Entry]]] = {
    "Zed": ("### Zed", zed),
    "JetBrains": ("### JetBrains", jetbrains),
    "CodeCompanion": ("**CodeCompanion**", neovim),
    "avante.nvim": ("**avante.nvim**", neovim),
    "agent-shell": ("**agent-shell**", emacs),
}


def section() -> str:
    _, found, rest = PAGE.read_text(encoding="utf-8").partition(THEIRS)
    text, end, _ = rest.partition(OTHERS)
    assert found and end, "the page has other headings"  # noqa: PT018  # either is enough to look
    return text


def block_after(heading: str) -> Block:
    _, found, rest = section().partition(f"\n{heading}")
    assert found, f"the page has no {heading}"
    return next(blocks(rest))


def test_the_page_has_no_untried_entry() -> None:
    entries = [block for block in blocks(section()) if block.language != "console"]
    assert [block.text for block in entries] == [block_after(heading).text for heading, _ in EDITORS.values()]


@pytest.fixture
def home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="gr-acp-", dir="/tmp") as base:
        yield Path(base)


@pytest.mark.parametrize("name", EDITORS)
def test_an_entry_opens_a_session_in_the_editors_directory_with_the_key_that_it_names(name: str, home: Path) -> None:
    heading, read = EDITORS[name]
    entry, project = read(block_after(heading), home), home / "project"
    project.mkdir()
    found = shutil.which(entry.command, path=shell(home)["PATH"])
    assert found is not None
    assert (Path(found).name, entry.args) == ("greenroom", ["acp"])
    assert entry.env["OPENAI_API_KEY"]
    environment = {name: value for name, value in entry.env.items() if name != "PYTHONPATH"}
    try:
        editor = Editor(environment, project, name, [found, *entry.args])
        session = editor.begin()
        editor.close()
        assert not editor.faults
        told = subprocess.run(
            [found, "inspect", session], env=environment, capture_output=True, check=True, text=True
        ).stdout
        row = json.loads(told)
        assert row["settings"]["provider"] == "openai"
        assert row["settings"]["cwd"] == str(project)
    finally:
        subprocess.run([found, "down", "--now"], env=environment, capture_output=True, check=False)
