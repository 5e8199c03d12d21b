"""A shown command as a reader would type it, and the words that bash makes of it."""

import os
import subprocess
from collections.abc import Iterable, Sequence
from itertools import islice, pairwise

from hypothesis import strategies as st

from transports.question_text import GOES_ON

FIRST, NEXT, BROKEN = "  $ ", "  > ", "    "
# What looks like something else, or like nothing; each once, beside what shells and our own lines give a meaning to.
HOSTILE = (
    *(
        "\u200b",
        "\u200c",
        "\u200d",
        "\u3164",
        "\u115f",
        "\u1160",
        "\uffa0",
        "\u034f",
        "\u2800",
        "\ufe0f",
        "\U000e0100",
    ),
    *("\U000e0041", "\xad", "\u2028", "\u2029", "\xa0", "\u2003", "\u3000", "\u202e", "\u2066", "\u061c", "\ufeff"),
    *("\x1b[2J", "\x9b2J", "\x85", "\x7f", "\x08", "\r", "\t", "\ue000", "\U0001f3f4", "e\u0301", "\u0336", "\u05d0"),
    *("\u0435", "\uff0f", "\u037e", "\u2024", "\u1160\u11a8", "\u0378", "\udcff", "\ufffc", "→", "…", "\u6f22", "é"),
    *(
        "\n",
        "\n\n",
        " \n",
        " ",
        "  ",
        "'",
        '"',
        "\\",
        "\\'",
        "$",
        "`",
        "!",
        "#",
        "~",
        "*",
        "?",
        "{a,b}",
        "=",
        "%",
        "&",
    ),
    *(
        "  $ ",
        "  > ",
        "    ",
        "  in /",
        "\n? may it run: npm test",
        "$'",
        "\\x41",
        "\\u200b",
        "-c",
        "rm -rf /",
        "a b",
    ),
)
words = st.lists(st.sampled_from(HOSTILE) | st.text("ab/.-x0", max_size=12) | st.characters(exclude_characters="\0"))
argvs = st.lists(words.map("".join).filter(lambda word: not _unwritable(word)), min_size=1, max_size=5)


def _unwritable(word: str) -> bool:
    """Whether a text has half a surrogate pair that stands for no byte: no program can be given that."""
    try:
        os.fsencode(word)
    except UnicodeEncodeError:
        return True
    return False


def command_in(lines: Iterable[str]) -> str:
    """Of the lines of a question: the text behind our marks, put together where only the window broke it."""
    text, broken = "", False
    for line, following in pairwise((*lines, "")):
        goes_on = line.endswith(GOES_ON) and following.startswith(BROKEN)
        told = line[: -len(GOES_ON)] if goes_on else line
        if broken:
            text += told.removeprefix(BROKEN)
        elif line.startswith(FIRST):
            text = told.removeprefix(FIRST)
        elif line.startswith(NEXT.rstrip()):
            text += "\n" + told[len(NEXT) :]
        else:
            break
        broken = goes_on
    return text


def words_of(commands: Sequence[str]) -> list[list[str]]:
    """The words of each command as bash reads them, all in one bash."""
    told = 'told() { printf \'%s\\0\' "$#" "$@"; }'
    script = "\n".join([told, *(f"told {command}" for command in commands)])
    done = subprocess.run(
        ["bash", "--norc"], input=os.fsencode(script), capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"}
    )
    assert not done.stderr, done.stderr
    words = iter(map(os.fsdecode, done.stdout.split(b"\0")[:-1]))
    return [list(islice(words, int(count))) for count in words]
