"""Pages that are written from the code tell the truth about it."""

from pathlib import Path
from typing import get_args

import pytest

from actors import errors
from actors import events as ev
from supervisor.cli.reference import reference_text
from supervisor.reference.__main__ import main
from supervisor.reference.control import control_page
from supervisor.reference.events import events_page
from supervisor.reference.mcp import mcp_page
from tests.docs.pages import DOCS
from transports.dialects.control.methods import METHODS
from transports.dialects.mcp import tools

REFERENCE = DOCS / "reference"


def test_the_committed_pages_are_those_that_the_code_writes() -> None:
    assert main(["--check", str(REFERENCE)]) == 0, "python -m supervisor.reference docs/reference"


def test_the_committed_page_of_the_command_line_is_the_one_that_the_code_writes() -> None:
    committed = (REFERENCE / "cli.md").read_text(encoding="utf-8")
    assert committed == reference_text(), "python -m supervisor.cli.reference docs/reference/cli.md"


def test_a_page_that_is_out_of_date_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check", str(tmp_path)]) == 1
    assert main([str(tmp_path)]) == 0
    assert main(["--check", str(tmp_path)]) == 0
    page = tmp_path / "events.md"
    page.write_text(page.read_text(encoding="utf-8") + "x", encoding="utf-8")
    assert main(["--check", str(tmp_path)]) == 1
    assert "events.md does not match the code" in capsys.readouterr().err


def test_every_tool_is_on_the_page_of_the_mcp_server_with_all_that_it_takes() -> None:
    text = mcp_page()
    for tool in tools.ALL:
        section = text.partition(f"### `{tool['name']}`\n")[2].partition("\n### ")[0]
        assert tool["description"] in section
        assert all(f"| `{name}` |" in section for name in tool["inputSchema"]["properties"])


def test_every_event_every_method_and_every_error_is_on_its_page() -> None:
    events, control = events_page(), control_page()
    kinds = [*get_args(ev.DurableEvent), *get_args(ev.Delta)]
    assert all(f"### `{kind.model_fields['type'].default}`\n" in events for kind in kinds)
    assert "\n### WorkspaceWrite\n" in events
    for name, method in METHODS.items():
        section = control.partition(f"### `{name}`\n")[2].partition("\n### ")[0]
        assert all(f"| `{member}` |" in section for member in method.params.model_fields)
    assert f"`{errors.AlreadyAnswered.code}` | {errors.AlreadyAnswered.jsonrpc}" in control


def test_every_member_of_every_event_is_explained() -> None:
    assert not [line for line in events_page().splitlines() if line.startswith("| `") and line.endswith("|  |")]
