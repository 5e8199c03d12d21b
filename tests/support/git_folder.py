"""A folder that git takes for the top of a work tree, without running git."""

from pathlib import Path


def as_work_tree(folder: Path) -> Path:
    for name in ("objects", "refs"):
        (folder / ".git" / name).mkdir(parents=True, exist_ok=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return folder
