"""Scripts: those judged plain are exactly what bash executes, and everything odd is not safe."""

import os
import shlex
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supervisor.work.safety.known_safe import programs
from supervisor.work.safety.shell import SCRIPT_LIMIT_CHARS, plain_commands

PLAIN: dict[str, list[list[str]]] = {
    "ls": [["ls"]],
    "  ls -la \n": [["ls", "-la"]],
    "ls\tx": [["ls", "x"]],
    "ls && pwd || echo no; cat f | wc -l": [["ls"], ["pwd"], ["echo", "no"], ["cat", "f"], ["wc", "-l"]],
    "ls;": [["ls"]],
    "ls\npwd\n\ncat f": [["ls"], ["pwd"], ["cat", "f"]],
    "ls &&\n pwd": [["ls"], ["pwd"]],
    "cat f |\nwc": [["cat", "f"], ["wc"]],
    "echo 'a b' \"c  d\" 12 -5 x=y @:%,+./_": [["echo", "a b", "c  d", "12", "-5", "x=y", "@:%,+./_"]],
    "echo '$x `y` \\ \" é' \"it's é!\" '' \"\"": [["echo", '$x `y` \\ " é', "it's é!", "", ""]],
    "echo ' x' \" y\" '\n' \"\n z\"": [["echo", " x", " y", "\n", "\n z"]],
    "sed -n 1,5p f": [["sed", "-n", "1,5p", "f"]],
}


@pytest.mark.parametrize("script", PLAIN)
def test_a_list_of_plain_commands_is_read_word_by_word(script: str) -> None:
    assert plain_commands(script) == tuple(map(tuple, PLAIN[script]))
    assert programs(["bash", "-lc", script])


def test_a_script_is_as_safe_as_its_least_safe_command() -> None:
    assert programs(["bash", "-lc", "ls && git status"])
    assert not programs(["bash", "-lc", "git status | rm f"])


NASTY = [
    # nothing, or nothing whole
    *(
        "",
        " ",
        "\n",
        ";",
        "&&",
        "ls &&",
        "&& ls",
        "ls |",
        "| ls",
        "ls ; ; pwd",
        "ls ;; pwd",
        "ls || && pwd",
        "(",
        "ls)",
    ),
    *("ls 'x", 'ls "x', "ls `", "if", "ls\n&& pwd", "ls\n; pwd", "ls &&& pwd"),
    # redirections and heredocs
    *(
        "ls > f",
        "ls>f",
        "ls >> f",
        "ls 2>f",
        "ls 2>&1",
        "ls &> f",
        "ls >| f",
        "cat < f",
        "cat <> f",
        "> f",
        "< f cat",
    ),
    *("cat <<EOF\nx\nEOF", "cat <<'EOF'\nx\nEOF", "cat <<< x", "ls >&2", "ls 1>&-", "cat f > /dev/null", "ls |& wc"),
    # substitutions and expansions
    *(
        "ls $(rm f)",
        "ls `rm f`",
        'ls "$(rm f)"',
        'ls "`rm f`"',
        "cat <(rm f)",
        "cat >(rm f)",
        "ls $HOME",
        'ls "$HOME"',
    ),
    *(
        "ls ${x}",
        "ls ${x:-$(rm f)}",
        'ls "${x}"',
        "ls $((1+1))",
        "ls $[1+1]",
        "ls $1",
        "ls $@",
        "ls $?",
        "$x",
        "ls $",
    ),
    *('ls "$"', "$(rm f)", "`rm f`", "ls $'x'", 'ls $"x"', "ls $'\\x72m'"),
    # assignments
    *("x=1", "x=1 ls", "PATH=. ls", "LD_PRELOAD=./x ls", "x+=1 ls", "x[0]=1 ls", "ls; x=1", "GIT_PAGER=x git log"),
    # words that bash changes
    *("ls *", "ls ?", "ls [a]", "ls *.py", "find *", "rg x *", "ls ~", "ls ~/x", "ls ~root", "ls {a,b}", "ls {1..3}"),
    *("find . {-delete,x}", "ls a{b,c}", "ls !(x)", "ls @(x)", "ls +(x)", "ls x=~", "ls \\*"),
    # escapes and odd quotes
    *(
        "l\\s",
        "\\ls",
        "ls \\\nx",
        "ls a\\ b",
        'ls "a\\"b"',
        "'l's",
        "l''s",
        'l"s"',
        "ls 'a''b'",
        "ls 'a'b",
        "ls a'b'",
    ),
    *("ls 'a'\"b\"", "'ls'", '"ls"', "find . '-ex'ec rm", "find . -ex''ec rm x"),
    # groups, jobs, functions, compounds
    *(
        "(ls)",
        "{ ls; }",
        "ls & pwd",
        "ls &",
        "!ls",
        "! ls",
        "time ls",
        "coproc ls",
        "ls() { rm f; }",
        "function ls { rm; }",
    ),
    *("if ls; then rm f; fi", "for x in a; do ls; done", "while ls; do pwd; done", "case x in x) ls;; esac"),
    *(
        "[[ -f x ]]",
        "[ -f x ]",
        "((1))",
        "test -f x",
        "select x in a; do ls; done",
        "until ls; do pwd; done",
        "eval ls",
    ),
    *(
        "exec ls",
        "command ls",
        "builtin cd",
        "source f",
        ". f",
        "env ls",
        "xargs rm",
        "sudo ls",
        "alias ls=rm",
        "export x",
    ),
    *(
        "trap ls EXIT",
        "set -x",
        "unset x",
        "declare x",
        "let x=1",
        "printf x",
        "ls; rm f",
        "ls | xargs rm",
        "bash -lc ls",
    ),
    # comments
    *("# ls", "ls # x", "ls #", "ls x#", "ls #x\nrm f", "ls\n#x"),
    # characters on which a parser and bash may differ
    *("ls\r\nrm f", "ls\r", "ls \x0b x", "ls\x0crm", "ls \xa0 x", "ls\xa0-x", "ls \u2028 x", "ls\u3000x", "ls \x85x"),
    *("ls é", "ls \0", "cat 'a\0b'", "ls \ud800", "ls '\ud800'", "ls '\x1b[2J'", 'ls "\r"', "ls \x7f", "\ufeffls"),
    *("ls ^", "ls %%{", "ls ]", "ls }", "ls a)"),
    # known-safe programs that are asked for more
    *("find . -delete", "git branch x", "rg --pre=x y", "sed -n 1p -i", "cat f && git diff --output=f"),
]


@pytest.mark.parametrize("script", NASTY)
def test_a_script_that_is_more_than_plain_safe_commands_is_not_safe(script: str) -> None:
    assert not programs(["bash", "-lc", script])


@pytest.mark.parametrize("word", ["if", "then", "time", "coproc", "in", "-n", "%1", "./x", "a/b", "x=y", "1", "'ls'"])
def test_a_word_that_bash_would_not_look_up_as_a_program_is_no_plain_command(word: str) -> None:
    assert plain_commands(f"{word} ls") is None


def test_only_bash_lc_is_looked_into() -> None:
    for argv in (["bash", "-c", "ls"], ["sh", "-lc", "ls"], ["bash", "-lc", "ls", "x"], ["/bin/bash", "-lc", "ls"]):
        assert not programs(argv)


def test_a_very_long_script_is_not_safe_and_a_long_one_is_no_trouble() -> None:
    assert programs(["bash", "-lc", "&&".join(["ls"] * 200)])
    assert not programs(["bash", "-lc", "ls " + "x" * SCRIPT_LIMIT_CHARS])
    assert not programs(["bash", "-lc", "(" * 16000])


# --- against bash itself -------------------------------------------------------------------------------------------

RECORDER = """
record() { builtin printf '%s\\0' "$@" >"$LOG/$BASHPID-$((count++))"; }
for name in cat cd echo false true pwd ls; do
    eval "$name() { record $name \\"\\$@\\"; }"
done
command_not_found_handle() { record "$@"; }
"""


class Bash:
    """Real bash without a program to run: it writes down, word by word, what it would execute."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "log"
        self._log.mkdir()
        self._setup = folder / "setup"
        self._setup.write_text(RECORDER)
        self._empty = folder / "empty"
        self._empty.mkdir()

    def executes(self, script: str) -> Counter[tuple[str, ...]]:
        path, setup, log = map(str, (self._empty, self._setup, self._log))
        environment = {"PATH": path, "BASH_ENV": setup, "LOG": log, "LC_ALL": "C.UTF-8"}
        subprocess.run(
            ["/bin/bash", "-c", script],
            env=environment,
            cwd=self._empty,
            check=False,
            capture_output=True,
            timeout=10,
        )
        assert not list(self._empty.iterdir()), "a script judged plain wrote a file"
        return Counter(map(self._taken, self._log.iterdir()))

    @staticmethod
    def _taken(record: Path) -> tuple[str, ...]:
        """Return the records, one a file: the parts of a pipeline write at the same time."""
        words = record.read_bytes().decode().split("\0")[:-1]
        record.unlink()
        return tuple(words)


@pytest.fixture(scope="module")
def bash(tmp_path_factory: pytest.TempPathFactory) -> Bash:
    return Bash(tmp_path_factory.mktemp("bash"))


ARGUMENTS = {
    "x": "x", "-n": "-n", "1": "1", "1,5p": "1,5p", "a/b.c": "a/b.c", "x=y": "x=y", "-": "-", "@%+:": "@%+:",
    "'q r'": "q r", '"s  t"': "s  t", "'$x'": "$x", '"it\'s"': "it's", "'\n'": "\n", "''": "", '""': "", "' é'": " é",
    '"#*~{"': "#*~{", "'\\'": "\\", '"!"': "!", "if": "if", "done": "done", "ls": "ls", "2": "2",
}  # fmt: skip
PROGRAMS = ("ls", "cat", "cd", "echo", "true", "false", "rm", "a.b", "x1")
JOINS = (" && ", "&&", " || ", "||", "; ", ";", " | ", "|", "\n", " \n\t", "&&\n", "|\n ", ";\n")
ODD = [
    "'",
    '"',
    "\\",
    "$",
    "`",
    "{",
    ",",
    "}",
    "*",
    "~",
    "#",
    "!",
    "\r",
    "\x0b",
    "&",
    "(",
    ")",
    "=",
    "[",
    "]",
    "é",
    "\xa0",
]
ODD += [
    "<",
    ">",
    "^",
    "%",
    "@",
    "+",
    ":",
    "-",
    "\\\n",
    "$'",
    '$"',
    "\x0c",
    "\u2028",
    "\ufeff",
    "''",
    '""',
    "..",
    "x=",
    "~/",
]
ODD += ["\n", " ", "\t", ";", "|", "&&", "if ", "in", "then", "time ", "! ", "{ ", "[[ ", "a'b", "2>", "\x7f", "\b"]

command = st.tuples(
    st.sampled_from(PROGRAMS),
    st.lists(st.tuples(st.sampled_from([" ", "\t", "  "]), st.sampled_from(list(ARGUMENTS)))),
)
command_list = st.lists(st.tuples(command, st.sampled_from(JOINS)), min_size=1, max_size=4)
CommandList = list[tuple[tuple[str, list[tuple[str, str]]], str]]


def as_script(commands: CommandList) -> str:
    """Join the commands to a script, without the last operator, which would join nothing."""
    text = "".join(name + "".join(map("".join, arguments)) + join for (name, arguments), join in commands)
    return text[: len(text) - len(commands[-1][1])]


@given(command_list)
def test_a_plain_script_is_read_and_bash_executes_what_was_read(bash: Bash, commands: CommandList) -> None:
    words = tuple((name, *(ARGUMENTS[word] for _, word in arguments)) for (name, arguments), _ in commands)
    assert plain_commands(as_script(commands)) == words
    agrees(bash, as_script(commands))


def spoilt(commands: CommandList, at: int, odd: str) -> str:
    script = as_script(commands)
    return script[: at % (len(script) + 1)] + odd + script[at % (len(script) + 1) :]


@given(command_list, st.integers(0, 10_000), st.sampled_from(ODD))
def test_an_odd_character_in_a_plain_script_is_refused_or_read_as_bash_does(
    bash: Bash, commands: CommandList, at: int, odd: str
) -> None:
    agrees(bash, spoilt(commands, at, odd))


@pytest.mark.soak(takes_s=60)
@settings(max_examples=10_000)
@given(command_list, st.lists(st.tuples(st.integers(0, 10_000), st.sampled_from(ODD)), min_size=1, max_size=3))
def test_odd_characters_in_a_plain_script_are_refused_or_read_as_bash_does(
    bash: Bash, commands: CommandList, oddities: list[tuple[int, str]]
) -> None:
    script = as_script(commands)
    for at, odd in oddities:
        script = script[: at % (len(script) + 1)] + odd + script[at % (len(script) + 1) :]
    agrees(bash, script)


def agrees(bash: Bash, script: str) -> None:
    commands = plain_commands(script)
    if commands is None:
        return
    executed = bash.executes(script)
    expected = Counter(commands)
    if "||" in script:  # what stands after it may not be reached
        assert executed <= expected
    else:
        assert executed == expected


@given(
    st.lists(
        st.text(st.characters(min_codepoint=32, max_codepoint=126, exclude_characters=";"), max_size=8),
        min_size=1,
        max_size=5,
    )
)
def test_a_word_that_is_read_plain_is_read_as_shlex_reads_it(words: list[str]) -> None:
    script = "echo " + " ".join(words)
    commands = plain_commands(script)
    if commands is not None and len(commands) == 1:
        assert list(commands[0]) == shlex.split(script)


def test_the_recorder_sees_what_bash_makes_of_a_script(bash: Bash) -> None:
    assert os.environ.get("LOG") is None
    assert bash.executes("ls {a,b} \"$((1+1))\"; ca''t x | rm 'y z'") == Counter(
        [("ls", "a", "b", "2"), ("cat", "x"), ("rm", "y z")]
    )


SLOW = ("a|", "a;", "a ", "a&&a|", "a=(", "${", "<<A ", "<<A\n", "[[ a =~ (", "((do ", "<(&&))<<A\n", "{<(;((")


@pytest.mark.parametrize("piece", SLOW)
def test_no_script_keeps_the_parser_busy(piece: str) -> None:
    """Parsing happens on the loop's thread, where everybody waits meanwhile."""
    began = time.process_time()
    plain_commands((piece * SCRIPT_LIMIT_CHARS)[:SCRIPT_LIMIT_CHARS])
    plain_commands(piece * 500)
    assert time.process_time() - began < 0.4
