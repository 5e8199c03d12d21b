"""Files with the output of verbs. With GREENROOM_GOLDEN=write in the environment they are written anew."""

import os
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "data" / "cli"


def judge(name: str, text: str) -> None:
    file = DATA / f"{name}.txt"
    if os.environ.get("GREENROOM_GOLDEN") == "write":
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")
