"""The page of the long runs: written, and read back by the run that adds to it."""

from tests.faults.report import LETTERS, Report, Row


def test_a_page_is_read_back_as_it_was_written() -> None:
    written, read = Report(), Report()
    written.rows = [
        Row(letter, f"what {letter} tried", True, "test_x.py", times=1_234, seconds=1.5, notes=["some", "more"])
        for letter in LETTERS
    ]
    written.rows[0].notes = []
    written.failed = ["tests/faults/test_x.py::test_y"]
    read.take_from(written.page())
    assert read.page() == written.page()
    assert read.whole


def test_later_rows_of_the_report_stand_after_earlier_ones() -> None:
    written, read = Report(), Report()
    written.rows = [Row("K", "first", True, "test_kills.py")]
    read.rows = [Row("K", "second", True, "test_kills.py")]
    read.take_from(written.page())
    assert [row.what for row in read.rows] == ["first", "second"]


def test_a_repeated_trial_replaces_its_row_in_the_report() -> None:
    written, read = Report(), Report()
    written.rows = [Row("K", "again", True, "test_kills.py", times=1), Row("K", "once", True, "test_kills.py")]
    written.failed = ["test_kills.py::mended", "test_kills.py::left"]
    read.rows = [Row("K", "again", True, "test_kills.py", times=2)]
    read.passed = {"test_kills.py::mended"}
    read.take_from(written.page())
    assert [(row.what, row.times) for row in read.rows] == [("once", 0), ("again", 2)]
    assert read.failed == ["test_kills.py::left"]
