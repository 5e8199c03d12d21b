"""Recognition of patches in shell calls."""

import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from supervisor.work.patch.errors import PatchSyntax
from supervisor.work.patch.recognise import PatchCall, patch_in

PATCH = "*** Begin Patch\n*** Add File: f\n+a $x `y` \\n 'q' \"z\n*** End Patch"


def heredoc(start: str, end: str = "EOF") -> list[str]:
    return ["bash", "-lc", f"{start}\n{PATCH}\n{end}"]


@pytest.mark.parametrize("name", ["apply_patch", "applypatch"])
def test_the_argument_of_apply_patch_is_the_patch(name: str) -> None:
    assert patch_in([name, PATCH]) == PatchCall(PATCH)


@pytest.mark.parametrize(
    "start",
    [
        "apply_patch <<'EOF'",
        'apply_patch <<"EOF"',
        "  \n\tapply_patch <<'EOF'",
        "applypatch<<'EOF'",
        "apply_patch <<\\EOF",
    ],
)
def test_the_heredoc_of_a_script_is_the_patch_as_it_stands(start: str) -> None:
    assert patch_in(heredoc(start)) == PatchCall(PATCH)


def test_an_unquoted_heredoc_is_not_expanded() -> None:
    assert patch_in(heredoc("apply_patch <<EOF")) == PatchCall(PATCH)


def test_the_end_word_may_be_any() -> None:
    assert patch_in(heredoc("apply_patch <<'PATCH'", "PATCH")) == PatchCall(PATCH)


def test_leading_tabs_are_taken_off_where_the_heredoc_says_so() -> None:
    script = "apply_patch <<-'EOF'\n\t*** Begin Patch\n\t*** Delete File: f\n\t*** End Patch\n\tEOF\n"
    call = patch_in(["bash", "-lc", script])
    assert call is not None
    assert call.text.strip() == "*** Begin Patch\n*** Delete File: f\n*** End Patch"


def test_a_heredoc_that_never_ends_goes_to_the_end_as_in_bash() -> None:
    assert patch_in(["bash", "-lc", f"apply_patch <<EOF\n{PATCH}"]) == PatchCall(PATCH)


LINES = st.lists(
    st.sampled_from([" EOF", "EOFX", "EOF ", "\tEOF", "+x", "$(", "`", "\\", "'", '"', "", " ", "<<EOF", "EO", "é"])
)


@given(LINES)
@example([" cat <<EOF", " x", "-y", " EOF", "+z"])
def test_the_body_is_the_one_that_bash_reads(lines: list[str]) -> None:
    script = "<<'EOF'\n" + "".join(line + "\n" for line in lines) + "EOF\n"
    call = patch_in(["bash", "-lc", "apply_patch " + script])
    read = subprocess.run(
        ["/bin/bash", "-c", "/bin/cat " + script], capture_output=True, text=True, check=True, timeout=10
    )
    assert call is not None
    assert call.text + "\n" * bool(lines) == read.stdout


@pytest.mark.parametrize(("word", "folder"), [("sub/dir", "sub/dir"), ("'a b'", "a b"), ('"c"', "c")])
def test_a_cd_before_it_is_its_directory(word: str, folder: str) -> None:
    assert patch_in(heredoc(f"cd {word} && apply_patch <<'EOF'")) == PatchCall(PATCH, folder)


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["apply_patch"],
        ["apply_patch", PATCH, "more"],
        ["bash", "-lc"],
        heredoc("cat <<'EOF'"),
        heredoc("cd $x && apply_patch <<'EOF'"),
        heredoc("cd a; apply_patch <<'EOF'"),
        heredoc("cd && apply_patch <<'EOF'"),
        heredoc("cd - && apply_patch <<'EOF'"),
        heredoc("ls a && apply_patch <<'EOF'"),
        heredoc("./apply_patch <<'EOF'"),
        heredoc("apply_patch_later <<'EOF'"),
        ["bash", "-lc", f"apply_patch '{PATCH}'"],
        ["bash", "-lc", "apply_patch < patch.txt"],
        ["bash", "-c", heredoc("apply_patch <<'EOF'")[2]],
        ["sh", "-lc", heredoc("apply_patch <<'EOF'")[2]],
    ],
)
def test_anything_else_is_an_ordinary_command(argv: list[str]) -> None:
    assert patch_in(argv) is None


@pytest.mark.parametrize(
    "argv",
    [
        heredoc("apply_patch <<'EOF'", "EOF\nrm -rf /"),
        heredoc("apply_patch <<'EOF' && make"),
        heredoc("apply_patch <<'EOF' | tee log"),
        heredoc("apply_patch <<'EOF' > log"),
        heredoc("apply_patch <<'EOF' &"),
        heredoc("apply_patch <<'EOF'; apply_patch <<'E2'", "EOF\nx\nE2"),
        heredoc("apply_patch <<'EOF\""),
        ["bash", "-lc", f'apply_patch <<< "{PATCH}"'],
        heredoc("apply_patch --dry-run <<'EOF'"),
        ["bash", "-lc", f"apply_patch \"$(cat <<'EOF'\n{PATCH}EOF\n)\""],
    ],
)
def test_a_patch_among_other_commands_is_refused_rather_than_the_rest_dropped(argv: list[str]) -> None:
    with pytest.raises(PatchSyntax, match="must be the only command of its script"):
        patch_in(argv)
