"""Every command of the documentation is run, and prints what the page says."""

import json
import tomllib
from pathlib import Path

import pytest

from supervisor.config import load
from tests.docs.console import Newcomer, fits, steps
from tests.docs.pages import blocks, named, pages

# Commands of a `sh` block are for programs that a test has not got, or that would run this test.
NOT_OURS = {"claude", "git", "make", "pipx", ".venv/bin/python"}


def with_commands() -> list[Path]:
    return [page for page in pages() if any(True for _ in steps(page.read_text(encoding="utf-8")))]


@pytest.mark.parametrize("page", with_commands(), ids=named)
def test_the_commands_of_a_page_print_what_it_says(page: Path) -> None:
    with Newcomer() as person:
        for step in steps(page.read_text(encoding="utf-8")):
            written = person.types(step.command)
            expected = "\n".join(step.expected)
            place = f"{named(page)}:{step.start}: $ {step.command}"
            assert fits(expected, written), f"{place}\n--- the page says\n{expected}\n--- it prints\n{written}"


@pytest.mark.parametrize("page", pages(), ids=named)
def test_what_is_not_run_belongs_to_another_program(page: Path) -> None:
    for block in blocks(page.read_text(encoding="utf-8")):
        assert block.language not in {"bash", "shell"}, f"{named(page)}:{block.start}: console is run, sh is not"
        if block.language == "sh":
            words = {line.split()[0] for line in block.lines if line.strip()}
            assert words <= NOT_OURS, (
                f"{named(page)}:{block.start}: {words - NOT_OURS} can be run: make it a console block"
            )


@pytest.mark.parametrize("page", pages(), ids=named)
def test_every_json_and_toml_block_can_be_read(page: Path) -> None:
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.language == "json":
            json.loads(block.text)
        elif block.language == "toml":
            tomllib.loads(block.text)


@pytest.mark.parametrize("page", pages(), ids=named)
def test_every_piece_of_our_configuration_is_accepted(page: Path, tmp_path: Path) -> None:
    """Those of other programs begin with their own table."""
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.language == "toml" and not block.text.startswith("[mcp_servers."):
            file = tmp_path / "config.toml"
            file.write_text(block.text, encoding="utf-8")
            loaded = load(str(file), environ={"HOME": str(tmp_path)})
            assert not loaded.warnings, f"{named(page)}:{block.start}: {loaded.warnings}"
