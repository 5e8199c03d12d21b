"""The key that seals what clients keep: made once, closed to others, and replaced when it can't be trusted."""

from pathlib import Path

import pytest

from supervisor.daemon.seal_key import KEY_BYTES, seal_key


def test_the_key_is_made_once_and_closed_to_others(tmp_path: Path) -> None:
    file = tmp_path / "seal.key"
    key = seal_key(file)
    assert len(key) == KEY_BYTES
    assert file.stat().st_mode & 0o777 == 0o600
    assert seal_key(file) == key
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 100])
def test_a_key_of_another_size_is_replaced(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "seal.key"
    file.write_bytes(content)
    file.chmod(0o600)
    key = seal_key(file)
    assert file.read_bytes() == key != content


def test_a_key_that_others_can_read_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "seal.key"
    known = seal_key(file)
    file.chmod(0o644)
    assert seal_key(file) != known
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_link_in_the_place_of_the_key_is_not_followed(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"x" * KEY_BYTES)
    other.chmod(0o600)
    file = tmp_path / "seal.key"
    file.symlink_to(other)
    assert seal_key(file) != other.read_bytes()
    assert not file.is_symlink()


def test_a_disk_that_refuses_leaves_a_key_for_this_process(tmp_path: Path) -> None:
    assert len(seal_key(tmp_path / "missing" / "seal.key")) == KEY_BYTES
