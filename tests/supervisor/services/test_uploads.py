"""Imports that come in several requests: whole lines in the end, bounded together, gone with their connection."""

import json
import re
from contextlib import closing
from pathlib import Path

import pytest

from actors.vocabulary.errors import InvalidInput, Overloaded
from actors.vocabulary.ids import ConnectionId, TurnId
from actors.vocabulary.records import Record
from supervisor.services.uploads import SpooledRecords, Uploads

ANN, BEN = (ConnectionId("ann"), "1"), (ConnectionId("ben"), "1")


def test_lines_come_out_as_they_went_in_however_they_were_cut(tmp_path: Path) -> None:
    uploads = Uploads(tmp_path, 1_000)
    assert uploads.add(ANN, ("one", "tw"), partial=True) == 2
    assert uploads.add(ANN, ("o\u2028",), partial=True) == 2
    assert uploads.add(BEN, ("other",)) == 1
    assert uploads.add(ANN, ("!", "three")) == 3
    with closing(uploads.take(ANN)) as upload:
        assert list(upload) == list(upload) == [b"one", "two\u2028!".encode(), b"three"]
    with closing(uploads.take(BEN)) as upload:
        assert list(upload) == [b"other"]


def test_what_is_too_much_is_refused_by_name_and_its_room_is_free_again(tmp_path: Path) -> None:
    uploads = Uploads(tmp_path, 10)
    uploads.add(ANN, ("12345",))
    with pytest.raises(InvalidInput, match=r"greenroom\.limits\.import_bytes"):
        uploads.add(ANN, ("123456",))
    assert uploads.characters == 0
    uploads.add(ANN, ("123456789",))
    uploads.keep_only([])


def test_all_connections_share_the_bound(tmp_path: Path) -> None:
    uploads = Uploads(tmp_path, 10)
    uploads.add(ANN, ("12345",))
    with pytest.raises(Overloaded, match=r"greenroom\.limits\.import_bytes"):
        uploads.add(BEN, ("123456",))
    with closing(uploads.take(ANN)) as upload:
        assert list(upload) == [b"12345"]
    uploads.add(BEN, ("123456",))
    uploads.keep_only([])


def test_what_a_connection_began_goes_with_it(tmp_path: Path) -> None:
    uploads = Uploads(tmp_path, 100)
    uploads.add(ANN, ("12345",))
    uploads.add(BEN, ("1",))
    uploads.keep_only([BEN[0]])
    assert uploads.characters == 2
    assert list(tmp_path.iterdir()) == []
    uploads.keep_only([])


def test_records_on_disk_are_what_they_were(tmp_path: Path) -> None:
    records = [Record(1, 0.5, None, "a", b"{}"), Record(2, 1.5, TurnId("t"), "b", b"x" * 100_000)]
    with closing(SpooledRecords(tmp_path)) as spooled:
        for record in records:
            spooled.append(record)
        assert list(spooled) == list(spooled) == records


def test_an_event_longer_than_any_that_is_kept_loses_the_end_of_its_long_texts_and_the_others_nothing(
    tmp_path: Path,
) -> None:
    uploads = Uploads(tmp_path, 1 << 20, whole=10_000)
    kept, long = json.dumps({"a": "x" * 9_000}), json.dumps({"seq": 7, "body": {"text": "ü" * 50_000, "b": "é\n"}})
    uploads.add(ANN, ("header" * 10_000, kept, long[:40]), partial=True)
    uploads.add(ANN, (long[40:], kept))
    with closing(uploads.take(ANN)) as upload:
        for _ in range(2):
            header, first, second, third = upload
            assert (header, first, third) == (b"header" * 10_000, kept.encode(), kept.encode())
            short = json.loads(second)
            assert short["seq"] == 7
            assert short["body"]["b"] == "é\n"
            assert re.fullmatch(r"ü+\[… \d+ bytes were left out here …\]", short["body"]["text"])


def test_a_line_that_can_not_be_shortened_is_refused_by_its_number(tmp_path: Path) -> None:
    uploads = Uploads(tmp_path, 1 << 20, whole=10_000)
    uploads.add(ANN, ("header", json.dumps(list(range(10_000)))))
    with closing(uploads.take(ANN)) as upload, pytest.raises(InvalidInput, match="line 2: of 58891 bytes"):
        list(upload)
