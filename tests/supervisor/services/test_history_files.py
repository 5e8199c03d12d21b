"""Files of exports and imports: filled if empty, read line by line, and records that wait on disk."""

import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from actors.vocabulary.errors import InvalidInput, UnknownConversation
from actors.vocabulary.ids import TurnId
from actors.vocabulary.records import Record
from supervisor.services.history_files import HistoryFile, SpooledRecords, fill_file

MOST = 1 << 20


def file_with(directory: Path, *lines: str) -> str:
    file = directory / "lines.jsonl"
    file.write_bytes("\n".join(lines).encode())
    return str(file)


def test_an_empty_file_is_filled(tmp_path: Path) -> None:
    file = tmp_path / "empty"
    file.touch()
    assert fill_file(str(file), ["one\n", "ü", "\u2028\n"]) == 2
    assert file.read_bytes() == "one\nü\u2028\n".encode()


def test_a_file_whose_export_fails_is_empty_again(tmp_path: Path) -> None:
    file = tmp_path / "empty"
    file.touch()

    def texts() -> Iterator[str]:
        yield "x" * (1 << 20)
        raise UnknownConversation("it was removed meanwhile")

    with pytest.raises(UnknownConversation):
        fill_file(str(file), texts())
    assert file.read_bytes() == b""


def test_a_second_name_of_a_file_is_not_filled(tmp_path: Path) -> None:
    (tmp_path / "first").touch()
    (tmp_path / "second").hardlink_to(tmp_path / "first")
    with pytest.raises(InvalidInput, match="not an empty file of yours"):
        fill_file(str(tmp_path / "second"), ["one\n"])


def test_lines_are_read_any_number_of_times_without_blank_ones(tmp_path: Path) -> None:
    with closing(HistoryFile(file_with(tmp_path, "one\r", "", "two\u2028!", "  ", "three"), MOST, MOST)) as lines:
        assert list(lines) == list(lines) == [b"one", "two\u2028!".encode(), b"three"]


def test_a_file_that_is_too_large_is_refused_with_the_key_of_its_bound(tmp_path: Path) -> None:
    path = file_with(tmp_path, "x" * 11)
    with pytest.raises(InvalidInput, match=r"more than 10 bytes \(greenroom\.limits\.import_bytes\)"):
        HistoryFile(path, 10, MOST)


def test_records_on_disk_are_what_they_were(tmp_path: Path) -> None:
    records = [Record(1, 0.5, None, "a", b"{}"), Record(2, 1.5, TurnId("t"), "b", b"x" * 100_000)]
    with closing(SpooledRecords(tmp_path)) as spooled:
        for record in records:
            spooled.append(record)
        assert list(spooled) == list(spooled) == records


def test_an_event_longer_than_any_that_is_kept_loses_the_end_of_its_long_texts_and_the_others_nothing(
    tmp_path: Path,
) -> None:
    kept, long = json.dumps({"a": "x" * 9_000}), json.dumps({"seq": 7, "body": {"text": "ü" * 50_000, "b": "é\n"}})
    with closing(HistoryFile(file_with(tmp_path, "header" * 10_000, kept, long, kept), MOST, 10_000)) as lines:
        for _ in range(2):
            header, first, second, third = lines
            assert (header, first, third) == (b"header" * 10_000, kept.encode(), kept.encode())
            short = json.loads(second)
            assert short["seq"] == 7
            assert short["body"]["b"] == "é\n"
            assert re.fullmatch(r"ü+\[… \d+ bytes were left out here …\]", short["body"]["text"])


def test_a_line_that_can_not_be_shortened_is_refused_by_its_number(tmp_path: Path) -> None:
    path = file_with(tmp_path, "header", json.dumps(list(range(10_000))), "")
    with (
        closing(HistoryFile(path, MOST, 10_000)) as lines,
        pytest.raises(InvalidInput, match="line 2: of 58891 bytes"),
    ):
        list(lines)
