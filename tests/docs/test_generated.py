"""Pages that are written from the code tell the truth about it."""

import shutil
from pathlib import Path

import pytest

from actors.vocabulary import events as ev
from tests.docs.pages import DOCS, ROOT
from tools.reference.__main__ import WRITERS, main
from tools.reference.control import control_page
from tools.reference.events import events_page
from tools.reference.mcp import mcp_page
from transports.dialects.control.methods import METHODS
from transports.dialects.mcp.protocol import tools

KEPT_BY_HAND = {"config.md", "control-api.md"}  # but for the part between their marks


def test_the_committed_pages_are_those_that_the_code_writes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check", str(DOCS)]) == 0, capsys.readouterr().err


def test_generated_files_that_are_old_or_missing_are_named_and_written_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    docs = tmp_path / "docs"
    shutil.copytree(DOCS, docs)
    shutil.copytree(ROOT / "greenroom", tmp_path / "greenroom")
    table = Path("transports/dialects/mcp/protocol/table.json")
    (tmp_path / table).parent.mkdir(parents=True)
    shutil.copy(ROOT / table, tmp_path / table)
    for name in WRITERS:
        file = docs / name
        text = file.read_text(encoding="utf-8").replace("-310", "-313").replace("frame_bytes", "framed")
        file.write_text(text if name in KEPT_BY_HAND else text + "x", encoding="utf-8")
    (docs / "reference" / "mcp.md").unlink()
    assert main(["--check", str(docs)]) == 1
    told = capsys.readouterr().err.splitlines()
    again = "run `make reference` and commit the result"
    assert told == [f"{docs / name} does not match the code: {again}" for name in WRITERS]
    assert main([str(docs)]) == 0
    for name in WRITERS:
        assert (docs / name).read_text(encoding="utf-8") == (DOCS / name).read_text(encoding="utf-8")


def test_every_tool_is_on_the_page_of_the_mcp_server_with_all_that_it_takes() -> None:
    text = mcp_page()
    for tool in tools.ALL:
        section = text.partition(f"### `{tool['name']}`\n")[2].partition("\n### ")[0]
        assert tool["description"] in section
        assert all(f"| `{name}` |" in section for name in tool["inputSchema"]["properties"])


def test_every_event_and_every_method_is_on_its_page() -> None:
    events, control = events_page(), control_page()
    assert all(f"### `{ev.type_of(kind)}`\n" in events for kind in ev.EVENTS)
    assert "\n### WorkspaceWrite\n" in events
    for name, method in METHODS.items():
        section = control.partition(f"### `{name}`\n")[2].partition("\n### ")[0]
        assert all(f"| `{member}` |" in section for member in method.params.model_fields)


def test_every_member_of_every_event_is_explained() -> None:
    assert not [line for line in events_page().splitlines() if line.startswith("| `") and line.endswith("|  |")]
