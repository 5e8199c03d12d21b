"""Guides and environment as they are on the disk now, and pictures as a model can be sent them."""

import base64
import os
from pathlib import Path

import pytest

from actors.vocabulary.events import MessageKind
from actors.vocabulary.settings import (
    ApprovalPolicy,
    DangerFullAccess,
    ReadOnly,
    SandboxPolicy,
    Settings,
    WorkspaceWrite,
)
from supervisor.agents.own.context.prompt_context import context_now, environment_context, read_guides
from supervisor.agents.own.model.pictures import readable_picture
from supervisor.agents.own.model.request import Image, LocalImage, TextPart
from supervisor.config.bounds import Bounds
from supervisor.work.reach.readable import Reach


def settings(cwd: Path, sandbox: SandboxPolicy | None = None) -> Settings:
    return Settings(
        model="m", cwd=cwd, approval_policy=ApprovalPolicy.UNTRUSTED, sandbox=sandbox or DangerFullAccess()
    )


@pytest.mark.parametrize(
    ("sandbox", "lines"),
    [
        (DangerFullAccess(), ["Sandbox mode: danger-full-access", "Network access: enabled"]),
        (ReadOnly(), ["Sandbox mode: read-only", "Network access: restricted"]),
        (WorkspaceWrite(), ["Sandbox mode: workspace-write", "Network access: restricted"]),
        (WorkspaceWrite(network_access=True), ["Sandbox mode: workspace-write", "Network access: enabled"]),
        (
            WorkspaceWrite(writable_roots=(Path("/a"), Path("/b"))),
            ["Sandbox mode: workspace-write", "Network access: restricted", "Writable roots: /a, /b"],
        ),
    ],
)
def test_the_environment_says_what_commands_may_do(sandbox: SandboxPolicy, lines: list[str]) -> None:
    head = ["<environment_context>", "Current working directory: /w", "Approval policy: untrusted"]
    assert environment_context(settings(Path("/w"), sandbox)) == "\n".join([*head, *lines, "</environment_context>"])


def guides(cwd: Path, home: Path, max_bytes: int) -> list[str]:
    return [*read_guides(Reach(cwd), home, max_bytes).texts]


def test_without_a_repository_only_the_directorys_own_guide_is_read(tmp_path: Path) -> None:
    below = tmp_path / "below"
    below.mkdir()
    (tmp_path / "AGENTS.md").write_text("above")
    (below / "AGENTS.md").write_text("own")
    assert guides(below, tmp_path / "nowhere", 1000) == ["own"]


def test_guides_of_a_repository_are_read_from_its_root_down_and_none_above(tmp_path: Path) -> None:
    deep = tmp_path / "root" / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / "root" / ".git").write_text("gitdir: elsewhere")
    for folder, text in ((tmp_path, "above"), (tmp_path / "root", "root"), (deep, "deep")):
        (folder / "AGENTS.md").write_text(text)
    assert guides(deep, tmp_path, 1000) == ["above", "root", "deep"]  # home happens to be above
    assert guides(deep, tmp_path / "nowhere", 1000) == ["root", "deep"]


def test_a_directory_that_can_not_be_looked_at_has_no_guide(tmp_path: Path) -> None:
    assert guides(Path("/", "a" * 300, "b"), tmp_path, 1000) == []


def test_all_guides_together_are_held_to_the_size(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "AGENTS.md").write_text("12345")
    (tmp_path / "AGENTS.md").write_text("ää")
    assert guides(tmp_path, home, 100) == ["12345", "ää"]
    assert guides(tmp_path, home, 8) == ["12345", "ä"]
    assert guides(tmp_path, home, 5) == ["12345"]
    assert guides(tmp_path, home, 0) == []


@pytest.mark.parametrize("content", [b"", b" \n", b"\xff\xfe"])
def test_a_guide_that_says_nothing_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "AGENTS.md").write_bytes(content)
    found = context_now(settings(tmp_path), Reach(tmp_path), tmp_path / "nowhere", 1000)
    assert [notice.kind for notice in found.notices] == [MessageKind.ENVIRONMENT_CONTEXT]


def test_a_guide_that_is_no_file_is_none(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").mkdir()
    assert guides(tmp_path, tmp_path / "nowhere", 1000) == []


def test_a_guide_that_is_a_pipe_holds_nobody_up(tmp_path: Path) -> None:
    """A turn must not wait for a writer of the pipe."""
    os.mkfifo(tmp_path / "AGENTS.md")
    assert guides(tmp_path, tmp_path / "nowhere", 1000) == []


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBP", "image/webp"),
    ],
)
def test_a_picture_becomes_a_data_url_of_its_kind(tmp_path: Path, head: bytes, kind: str) -> None:
    (tmp_path / "a #%.x").write_bytes(head)
    data = base64.b64encode(head).decode()
    assert readable_picture(LocalImage(Path("a #%.x")), Reach(tmp_path)) == Image(f"data:{kind};base64,{data}")
    assert readable_picture(LocalImage(tmp_path / "a #%.x"), Reach(Path("/"))) == Image(f"data:{kind};base64,{data}")


def test_a_picture_that_cannot_be_sent_is_said_in_words(tmp_path: Path) -> None:
    bounds = Bounds(picture_bytes=2)
    large = bounds.describe_excess("picture_bytes", f"the picture {tmp_path / 'large.png'} is too large")
    (tmp_path / "large.png").write_bytes(b"abc")
    assert readable_picture(LocalImage(Path("large.png")), Reach(tmp_path), bounds) == TextPart(f"[{large}]")
    (tmp_path / "a.txt").write_bytes(b"ab")
    os.mkfifo(tmp_path / "pipe")  # nobody waits for a writer
    (tmp_path / "loop").symlink_to("loop")
    for name, why in {
        "gone.png": f"there is no {tmp_path / 'gone.png'}",
        "a.txt": "is not a PNG, JPEG, GIF or WebP file",
        "a.txt/b": "can't be read: Not a directory",
        "pipe": "is a pipe, not a file",
        "loop": "can't be read: Too many levels of symbolic links",
        "\0": "it has a NUL in it",
        "n" * 300: "can't be read: File name too long",
        "": "is a directory",
    }.items():
        said = readable_picture(LocalImage(Path(name)), Reach(tmp_path))
        assert isinstance(said, TextPart)
        assert why in said.text


@pytest.mark.parametrize(
    "address", ["notes.txt", "", "file:///etc/passwd", "file://[", "data:text/plain,x", "ftp://x"]
)
def test_an_address_that_no_provider_reads_is_said_in_words(address: str) -> None:
    """A provider would refuse the address, and with it every later request of the conversation."""
    said = readable_picture(Image(address), Reach(Path("/")))
    assert isinstance(said, TextPart)
    assert "its address is neither https: nor data:image/" in said.text


@pytest.mark.parametrize("address", ["https://x/y.png", "HTTP://x", "data:image/png;base64,AA"])
def test_an_address_that_a_provider_reads_is_its_business(address: str) -> None:
    assert readable_picture(Image(address), Reach(Path("/"))) == Image(address)
