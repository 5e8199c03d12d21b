"""The parser of patches: text to operations. Pure: knows the grammar and its error texts, and nothing of files."""

from collections.abc import Callable, Iterator
from enum import Enum

from msgspec import Struct

from supervisor.work.patch.errors import PatchSyntax

BEGIN = "*** Begin Patch"
END = "*** End Patch"
ADD = "*** Add File: "
DELETE = "*** Delete File: "
UPDATE = "*** Update File: "
MOVE = "*** Move to: "
END_OF_FILE = "*** End of File"
HEREDOC_STARTS = ("<<EOF", "<<'EOF'", '<<"EOF"')
HEREDOC_END = "EOF"


class Mark(Enum):
    KEEP = " "
    REMOVE = "-"
    INSERT = "+"


class PatchLine(Struct, frozen=True):
    mark: Mark
    text: str


class Chunk(Struct, frozen=True):
    context: str | None
    lines: tuple[PatchLine, ...]
    at_end: bool = False

    @property
    def old(self) -> tuple[str, ...]:
        return tuple(line.text for line in self.lines if line.mark is not Mark.INSERT)


class AddFile(Struct, frozen=True):
    path: str
    content: str


class DeleteFile(Struct, frozen=True):
    path: str


class UpdateFile(Struct, frozen=True):
    path: str
    move_to: str | None
    chunks: tuple[Chunk, ...]


Operation = AddFile | DeleteFile | UpdateFile


def parse(text: str, go_on: Callable[[], None] = lambda: None) -> tuple[Operation, ...]:
    """Parse a patch; call `go_on` at every line. Raises PatchSyntax, with texts that models know from Codex."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise PatchSyntax("invalid patch: The patch is not valid Unicode text") from None
    lines = _between_the_marks([line.removesuffix("\r") for line in text.strip().split("\n")])
    return tuple(_operations(_Lines(lines, go_on)))


def _between_the_marks(lines: list[str]) -> list[str]:
    wrapped = len(lines) >= 4 and lines[0] in HEREDOC_STARTS and lines[-1].endswith(HEREDOC_END)
    if wrapped:
        lines = lines[1:-1]
    if lines[0] != BEGIN:
        raise PatchSyntax(f"invalid patch: The first line of the patch must be '{BEGIN}'")
    if len(lines) < 2 or lines[-1] != END:
        raise PatchSyntax(f"invalid patch: The last line of the patch must be '{END}'")
    return lines[1:-1]


class _Lines:
    """The operations' lines, and the position up to which they are read."""

    def __init__(self, lines: list[str], go_on: Callable[[], None]) -> None:
        self._lines = lines
        self._next = 0
        self._go_on = go_on

    @property
    def number(self) -> int:
        """The number of the next line for the model, counted from the begin mark."""
        return self._next + 2

    def peek(self) -> str | None:
        return self._lines[self._next] if self._next < len(self._lines) else None

    def skip(self) -> None:
        self._next += 1
        self._go_on()

    def take(self, line: str) -> bool:
        if self.peek() != line:
            return False
        self.skip()
        return True

    def take_after(self, prefix: str) -> str | None:
        """Read the next line if it begins with the prefix, and return its rest."""
        line = self.peek()
        if line is None or not line.startswith(prefix):
            return None
        self.skip()
        return line.removeprefix(prefix)

    def wrong(self, problem: str) -> PatchSyntax:
        return PatchSyntax(f"invalid hunk at line {self.number}, {problem}")


def _operations(lines: _Lines) -> Iterator[Operation]:
    while (line := lines.peek()) is not None:
        header = line.strip()
        if header.startswith(ADD):
            lines.skip()
            yield AddFile(header.removeprefix(ADD), _added_content(lines))
        elif header.startswith(DELETE):
            lines.skip()
            yield DeleteFile(header.removeprefix(DELETE))
        elif header.startswith(UPDATE):
            yield _update(header.removeprefix(UPDATE), lines)
        else:
            raise lines.wrong(
                f"'{header}' is not a valid hunk header. Valid hunk headers: "
                "'*** Add File: {path}', '*** Delete File: {path}', '*** Update File: {path}'"
            )


def _added_content(lines: _Lines) -> str:
    content: list[str] = []
    while (text := lines.take_after("+")) is not None:
        content.append(text + "\n")
    return "".join(content)


def _update(path: str, lines: _Lines) -> UpdateFile:
    empty = lines.wrong(f"Update file hunk for path '{path}' is empty")
    lines.skip()
    move_to = lines.take_after(MOVE)
    chunks: list[Chunk] = []
    while (line := lines.peek()) is not None and not line.startswith("***"):
        if line.strip():
            chunks.append(_chunk(lines, first=not chunks))
        else:
            lines.skip()
    if not chunks:
        raise empty
    return UpdateFile(path, move_to, tuple(chunks))


def _chunk(lines: _Lines, *, first: bool) -> Chunk:
    context = lines.take_after("@@ ")
    if context is None and not lines.take("@@") and not first:
        raise lines.wrong(f"Expected update hunk to start with a @@ context marker, got: '{lines.peek()}'")
    body: list[PatchLine] = []
    while (text := lines.peek()) is not None and text != END_OF_FILE:
        line = _line(text)
        if line is None and not body:
            raise lines.wrong(
                f"Unexpected line found in update hunk: '{text}'. Every line should start with "
                "' ' (context line), '+' (added line), or '-' (removed line)"
            )
        if line is None:
            break
        body.append(line)
        lines.skip()
    if not body:
        raise lines.wrong("Update hunk does not contain any lines")
    return Chunk(context or None, tuple(body), at_end=lines.take(END_OF_FILE))


def _line(text: str) -> PatchLine | None:
    if not text:
        return PatchLine(Mark.KEEP, "")
    try:
        return PatchLine(Mark(text[0]), text[1:])
    except ValueError:
        return None
