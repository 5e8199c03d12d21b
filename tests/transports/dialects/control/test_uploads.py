"""Lines of several requests: kept apart by name, bounded together."""

from actors.errors import InvalidInput
from transports.dialects.control.uploads import Uploads


def test_lines_are_put_together_by_name_and_taken_once() -> None:
    uploads = Uploads()
    assert [uploads.add("a", ("1", "2")), uploads.add("b", ("x",)), uploads.add("a", ("3",))] == [2, 1, 3]
    assert uploads.take("a") == ("1", "2", "3")
    assert uploads.take("a") == ()
    assert uploads.take("b") == ("x",)


def test_too_much_is_refused_and_forgotten_and_makes_room() -> None:
    uploads = Uploads(most_bytes=10)
    assert uploads.add("a", ("12345",)) == 1
    assert isinstance(uploads.add("b", ("123456",)), InvalidInput)
    assert uploads.add("b", ("12345",)) == 1
    assert uploads.take("a") == ("12345",)
    assert uploads.add("c", ("12345",)) == 1
