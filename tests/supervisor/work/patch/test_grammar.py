"""Patch text to operations, and every failure text with its line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.work.patch.errors import PatchError, PatchSyntax
from supervisor.work.patch.grammar import AddFile, Chunk, DeleteFile, Mark, Operation, PatchLine, UpdateFile, parse

KEEP, REMOVE, INSERT = Mark.KEEP, Mark.REMOVE, Mark.INSERT
HEADERS = "Valid hunk headers: '*** Add File: {path}', '*** Delete File: {path}', '*** Update File: {path}'"
MARKS = "Every line should start with ' ' (context line), '+' (added line), or '-' (removed line)"


def patch(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


def operations(*lines: str) -> tuple[Operation, ...]:
    return parse(patch(*lines))


def only_update(*lines: str) -> UpdateFile:
    (operation,) = operations("*** Update File: f", *lines)
    assert isinstance(operation, UpdateFile)
    return operation


FAILURES = {
    "nothing": ("", "invalid patch: The first line of the patch must be '*** Begin Patch'"),
    "no begin": ("bad", "invalid patch: The first line of the patch must be '*** Begin Patch'"),
    "no end": ("*** Begin Patch\nbad", "invalid patch: The last line of the patch must be '*** End Patch'"),
    "only begin": ("*** Begin Patch", "invalid patch: The last line of the patch must be '*** End Patch'"),
    "short wrapper": (
        "<<EOF\n*** Begin Patch\nEOF",
        "invalid patch: The first line of the patch must be '*** Begin Patch'",
    ),
    "wrapped without end": (
        "<<EOF\n*** Begin Patch\n*** Add File: f\nEOF",
        "invalid patch: The last line of the patch must be '*** End Patch'",
    ),
    "half a wrapper": (
        "<<'EOF\n*** Begin Patch\n*** End Patch\nEOF",
        "invalid patch: The first line of the patch must be '*** Begin Patch'",
    ),
    "bad header": (patch(" bad "), f"invalid hunk at line 2, 'bad' is not a valid hunk header. {HEADERS}"),
    "bad later header": (
        patch("*** Add File: f", "+x", "bad"),
        f"invalid hunk at line 4, 'bad' is not a valid hunk header. {HEADERS}",
    ),
    "header without path": (
        patch("*** Delete File: "),
        f"invalid hunk at line 2, '*** Delete File:' is not a valid hunk header. {HEADERS}",
    ),
    "update without chunks": (
        patch("*** Update File: f"),
        "invalid hunk at line 2, Update file hunk for path 'f' is empty",
    ),
    "pure rename": (
        patch("*** Delete File: d", "*** Update File: f", "*** Move to: g"),
        "invalid hunk at line 3, Update file hunk for path 'f' is empty",
    ),
    "only blanks": (
        patch("*** Update File: f", "", "  "),
        "invalid hunk at line 2, Update file hunk for path 'f' is empty",
    ),
    "chunk without lines": (
        patch("*** Update File: f", "@@"),
        "invalid hunk at line 4, Update hunk does not contain any lines",
    ),
    "only end of file": (
        patch("*** Update File: f", "@@ def", "*** End of File"),
        "invalid hunk at line 4, Update hunk does not contain any lines",
    ),
    "bad first line": (
        patch("*** Update File: f", "@@", "bad"),
        f"invalid hunk at line 4, Unexpected line found in update hunk: 'bad'. {MARKS}",
    ),
    "bad first line without @@": (
        patch("*** Update File: f", "bad"),
        f"invalid hunk at line 3, Unexpected line found in update hunk: 'bad'. {MARKS}",
    ),
    "later chunk without @@": (
        patch("*** Update File: f", "*** Move to: g", "@@", "-a", "+b", "bad"),
        "invalid hunk at line 7, Expected update hunk to start with a @@ context marker, got: 'bad'",
    ),
    "after end of file": (
        patch("*** Update File: f", "-a", "*** End of File", "+b"),
        "invalid hunk at line 5, Expected update hunk to start with a @@ context marker, got: '+b'",
    ),
    "not Unicode": (patch("*** Add File: f", "+\ud800"), "invalid patch: The patch is not valid Unicode text"),
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_malformed_patch_fails_with_the_known_text_and_the_right_line(case: str) -> None:
    text, expected = FAILURES[case]
    with pytest.raises(PatchSyntax) as failure:
        parse(text)
    assert failure.value.message == expected


def test_every_kind_of_operation_is_read() -> None:
    assert operations(
        "*** Add File: a/new.txt",
        "+one",
        "+",
        "*** Delete File: old.txt",
        "*** Update File: f.py",
        "*** Move to: g.py",
        "@@ def f():",
        "-  pass",
        "+  return 1",
        "*** End of File",
    ) == (
        AddFile("a/new.txt", "one\n\n"),
        DeleteFile("old.txt"),
        UpdateFile(
            "f.py",
            "g.py",
            (Chunk("def f():", (PatchLine(REMOVE, "  pass"), PatchLine(INSERT, "  return 1")), at_end=True),),
        ),
    )


def test_a_patch_without_operations_is_no_syntax_error() -> None:
    assert operations() == ()


def test_an_add_without_lines_makes_an_empty_file() -> None:
    assert operations("*** Add File: empty", "*** Delete File: d") == (AddFile("empty", ""), DeleteFile("d"))


def test_blanks_round_the_text_and_round_headers_are_forgiven() -> None:
    text = "\n\n  *** Begin Patch\n   *** Delete File: a b \n\t*** Add File: c\n+x\n*** End Patch \n\n"
    assert parse(text) == (DeleteFile("a b"), AddFile("c", "x\n"))


@pytest.mark.parametrize("start", ["<<EOF", "<<'EOF'", '<<"EOF"'])
def test_a_heredoc_round_the_patch_is_taken_off(start: str) -> None:
    assert parse(f"{start}\n{patch('*** Delete File: d')}\nEOF\n") == (DeleteFile("d"),)


def test_the_first_chunk_needs_no_marker_and_an_empty_line_is_context() -> None:
    assert only_update(" a", "", "-b").chunks == (
        Chunk(None, (PatchLine(KEEP, "a"), PatchLine(KEEP, ""), PatchLine(REMOVE, "b"))),
    )


def test_blank_lines_before_a_chunk_are_skipped() -> None:
    update = only_update("", "@@", "-a", "*** End of File", "  ", "", "@@ x", "+b")
    assert update.chunks == (
        Chunk(None, (PatchLine(REMOVE, "a"),), at_end=True),
        Chunk("x", (PatchLine(INSERT, "b"),)),
    )


def test_a_line_of_stars_ends_the_update() -> None:
    assert operations("*** Update File: f", "-a", "*** Delete File: d")[1] == DeleteFile("d")


def test_an_empty_context_is_none() -> None:
    assert only_update("@@ ", "-a").chunks[0].context is None


def test_carriage_returns_of_the_patch_itself_are_dropped() -> None:
    assert parse(patch("*** Add File: f", "+x").replace("\n", "\r\n")) == (AddFile("f", "x\n"),)


def test_only_a_line_feed_ends_a_line() -> None:
    odd = "+a\x0bb\x0cc\x1cd\x85e\u2028f"
    assert operations("*** Add File: f", odd) == (AddFile("f", odd[1:] + "\n"),)


PIECES = st.sampled_from(
    [
        "*** Begin Patch",
        "*** End Patch",
        "*** Add File: a",
        "*** Delete File: b",
        "*** Update File: c",
        "*** Move to: d",
        "*** End of File",
        "***",
        "@@",
        "@@ x",
        "@@x",
        "+1",
        "-1",
        " 1",
        "",
        " ",
        "<<EOF",
        "EOF",
        "\r",
    ]
)
LINES = st.one_of(PIECES, st.text(max_size=6), st.text(st.characters(categories=["Cs", "Cc", "Zs"]), max_size=3))


@given(st.one_of(st.lists(LINES, max_size=14).map("\n".join), st.lists(LINES, max_size=14).map(lambda x: patch(*x))))
def test_any_text_is_a_patch_or_a_patch_error(text: str) -> None:
    try:
        parse(text)
    except PatchError as error:
        assert error.message.startswith("invalid ")  # noqa: PT017 - most texts fail, some don't; both are fine
