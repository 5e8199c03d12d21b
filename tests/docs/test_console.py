"""The comparison that judges the documentation, judged itself."""

from tests.docs.console import TerminalUser, fits, steps

PAGE = """# A page

```console
$ echo one
one
$ cat <<'END'
$ no command
END
…
```

```console
$ greenroom run 'run ls'
$ ls
```

```text
$ not run
```
"""


def test_a_page_is_taken_apart_into_commands_and_what_they_print() -> None:
    found = [(step.command, step.expected) for step in steps(PAGE)]
    assert found == [
        ("echo one", ("one",)),
        ("cat <<'END'\n$ no command\nEND", ("…",)),
        ("greenroom run 'run ls'", ("$ ls",)),
    ]


def test_output_that_varies_from_run_to_run_compares_equal() -> None:
    assert fits("434d2deb  hello  idle  0s  66  demo", "fe01ab23  hello  idle  12s  70  demo")
    assert fits("up: pid 20307, 0.4 s, 450.5 KiB", "up: pid 9, 3 min, 4 B")


def test_output_that_does_not_vary_compares_unequal() -> None:
    assert not fits("434d2deb  hello  idle", "434d2deb  hello  failed")
    assert not fits("one\ntwo", "one")
    assert not fits("one", "one\ntwo")
    assert not fits("11", "13")


def test_dots_stand_for_a_part_of_a_line_or_for_lines() -> None:
    assert fits("a … d\n…\nend", "a b c d\nx\ny\nend")
    assert fits("…\nend", "end")
    assert not fits("a …\nend", "a b\nx\nend")


def test_the_next_command_finds_the_directory_and_the_status_of_the_last() -> None:
    with TerminalUser() as person:
        person.types("mkdir -p deeper && cd deeper && (exit 3)")
        assert person.types("echo $?; pwd").split() == ["3", "/home/ada-byron/shop/deeper"]
