"""The pages of the documentation, and what is in them: fenced blocks, headings, links. Reads, runs nothing."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
AT_THE_TOP = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")

_FENCE = re.compile(r"^```(\w*)\s*$")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"`[^`\n]*`")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block; `start` is the index of its first line in the page."""

    language: str
    start: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def pages() -> list[Path]:
    return [*(ROOT / name for name in AT_THE_TOP), *sorted(DOCS.rglob("*.md"))]


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(text: str) -> Iterator[Block]:
    language, start, inside = "", 0, False
    lines = text.splitlines()
    for at, line in enumerate(lines):
        fence = _FENCE.match(line)
        if fence and not inside:
            language, start, inside = fence[1], at + 1, True
        elif fence:
            yield Block(language, start, tuple(lines[start:at]))
            inside = False
    assert not inside, f"a block that begins at line {start} has no end"


def prose(text: str) -> str:
    """The page without fenced blocks and code words, in which brackets mean something else."""
    kept = text.splitlines()
    for block in blocks(text):
        kept[block.start - 1 : block.start + len(block.lines) + 1] = [""] * (len(block.lines) + 2)
    return _CODE.sub("", "\n".join(kept))


def links(text: str) -> list[str]:
    return _LINK.findall(prose(text))


def anchors(text: str) -> set[str]:
    """The anchors that forges make of headings."""
    lines = [line.lstrip("#").strip() for line in text.splitlines() if line.startswith("#")]
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in lines}
