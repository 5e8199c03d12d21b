"""Every command of the documentation is run, and prints what the page says."""

import json
import re
import tomllib
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import cast

import pytest

from supervisor.config.load import load
from tests.docs.console import Step, TerminalUser, fits, steps
from tests.docs.pages import blocks, named, pages
from tests.support.confinement import confinable

AT_A_TIME = 3
PAGE_S = 50.0  # an idle machine needs a fifth of it for the longest page

# Commands of a `sh` block are for programs that a test has not got, or that would run this test.
NOT_OURS = {"claude", "git", "make", "pipx", ".venv/bin/python"}


def with_commands() -> list[Path]:
    return [page for page in pages() if any(True for _ in steps(page.read_text(encoding="utf-8")))]


def needs_sandbox(page: Path) -> bool:
    """Whether the page needs a sandbox: without one its commands would ask for approval first."""
    return named(page) in {
        f"docs/{name}.md"
        for name in ("tutorial", "agents", "how-to/interrupting", "how-to/recovering", "how-to/sandbox")
    }


Printed = list[tuple[Step, str]]


def run(page: Path) -> Printed:
    with TerminalUser() as person:
        return [(step, person.types(step.command)) for step in steps(page.read_text(encoding="utf-8"))]


@pytest.fixture(scope="module")
def runs(request: pytest.FixtureRequest) -> Iterator[dict[Path, Future[Printed]]]:
    """The pages that are wanted, a few at a time: each has a home of its own, and waits more than it works."""
    items = [one for one in request.session.items if isinstance(one, pytest.Function) and "runs" in one.fixturenames]
    of_items = [cast("Path", one.callspec.params["page"]) for one in items]
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        yield {page: pool.submit(run, page) for page in of_items}


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=confinable if needs_sandbox(page) else ()) for page in with_commands()],
    ids=named,
)
def test_the_commands_of_a_page_print_what_it_says(page: Path, runs: dict[Path, Future[Printed]]) -> None:
    for step, written in runs[page].result(PAGE_S):
        expected = "\n".join(step.expected)
        place = f"{named(page)}:{step.start}: $ {step.command}"
        assert fits(expected, written), f"{place}\n--- the page says\n{expected}\n--- it prints\n{written}"


@pytest.mark.parametrize("page", with_commands(), ids=named)
def test_a_conversation_has_the_same_id_all_over_its_page(page: Path) -> None:
    """The comparison takes any id for any other; a reader of the page does not."""
    ids: dict[str, str] = {}
    for step in steps(page.read_text(encoding="utf-8")):
        named_here = re.search(r"greenroom run .*--name (\w+)", step.command)
        if named_here and (made := re.search(r"^(?:conversation )?([0-9a-f]{8})\b", "\n".join(step.expected))):
            ids[named_here[1]] = made[1]
        for row in (line.split() for line in step.expected):
            if len(row) > 1 and row[1] in ids and re.fullmatch(r"[0-9a-f]{8}", row[0]):
                assert row[0] == ids[row[1]], f"{named(page)}:{step.start}: {row[1]} was {ids[row[1]]} above"


@pytest.mark.parametrize("page", pages(), ids=named)
def test_commands_that_are_not_run_belong_to_other_programs(page: Path) -> None:
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
    """Examples of other programs' configuration begin with their own table."""
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.language == "toml" and not block.text.startswith("[mcp_servers."):
            file = tmp_path / "config.toml"
            file.write_text(block.text, encoding="utf-8")
            loaded = load(str(file), environ={"HOME": str(tmp_path)})
            assert not loaded.warnings, f"{named(page)}:{block.start}: {loaded.warnings}"
