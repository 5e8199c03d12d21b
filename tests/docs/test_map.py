"""Links lead somewhere, and every page is found from the map."""

import re
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, ROOT, anchors, links, named, pages

MAP = DOCS / "README.md"


def targets(page: Path) -> list[tuple[str, Path, str]]:
    """Internal links of a page: as written, the file, and the anchor in it."""
    found = []
    for link in links(page.read_text(encoding="utf-8")):
        if "://" not in link and not link.startswith("mailto:"):
            name, _, anchor = link.partition("#")
            found.append((link, (page.parent / name).resolve() if name else page, anchor))
    return found


@pytest.mark.parametrize("page", pages(), ids=named)
def test_every_internal_link_leads_somewhere(page: Path) -> None:
    for link, file, anchor in targets(page):
        assert file.exists(), f"{named(page)} links to {link}"
        assert file.is_relative_to(ROOT), f"{named(page)} links out of the repository: {link}"
        if anchor:
            assert anchor in anchors(file.read_text(encoding="utf-8")), f"{named(page)} links to {link}"


def test_every_file_under_docs_is_reached_from_the_map() -> None:
    reached: set[Path] = set()
    ahead = [MAP]
    while ahead:
        page = ahead.pop()
        reached.add(page)
        if page.suffix == ".md" and page.is_relative_to(DOCS):
            ahead += [file for _, file, _ in targets(page) if file.is_file() and file not in reached]
    there = {file for file in DOCS.rglob("*") if file.is_file() and file.suffix not in {".py", ".pyc"}}
    assert there <= reached, f"the map doesn't lead to {sorted(named(file) for file in there - reached)}"


WANTED = (
    "tutorial.md", "architecture.md", "decisions.md", "how-to/approvals.md", "how-to/interrupting.md",
    "how-to/recovering.md", "how-to/sandbox.md", "how-to/several-editors.md",
    "how-to/migrating-from-codex-mcp-server.md", "reference/cli.md", "config.md", "reference/events.md",
    "reference/control-api.md",
)  # fmt: skip


def test_the_map_itself_leads_to_every_page_that_a_newcomer_looks_for() -> None:
    there = {file for _, file, _ in targets(MAP)} | {file for _, file, _ in targets(DOCS / "reference" / "README.md")}
    assert {name for name in WANTED if (DOCS / name).resolve() not in there} == set()


def test_the_project_has_its_papers() -> None:
    for name in ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "LICENSE"):
        assert (ROOT / name).stat().st_size > 200, name
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_the_readme_leads_to_the_map() -> None:
    assert MAP in {file for _, file, _ in targets(ROOT / "README.md")}


def test_every_file_that_the_architecture_names_is_there() -> None:
    """In the life of one message; the table of folders is checked beside the directions of imports."""
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    told = set(re.findall(r"`((?:actors|transports|supervisor|tests)/[\w/]+\.py)`", text))
    assert len(told) > 20
    assert {name for name in told if not (ROOT / name).exists()} == set()
