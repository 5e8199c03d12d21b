"""`greenroom run --worktree` and `greenroom worktree`: a worktree and a branch for one conversation."""

import subprocess
from pathlib import Path

import pytest

from tests.supervisor.cli.place import Place

AUTHOR = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}


def git(where: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(where), *words],
        check=True,
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", **AUTHOR},
    )
    return done.stdout.strip()


@pytest.fixture
def shop(place: Place, tmp_path: Path) -> Path:
    """A repository with one commit."""
    shop = tmp_path / "shop"
    (shop / "src").mkdir(parents=True)
    (shop / "src" / "a.txt").write_text("one\n")
    git(tmp_path, "init", "-q", "-b", "main", str(shop))
    commit(shop, "first")
    place.env |= {**AUTHOR, "XDG_DATA_HOME": str(tmp_path / "data")}
    return shop


def commit(where: Path, words: str) -> None:
    git(where, "add", "-A")
    git(where, "commit", "-q", "-m", words)


def begun(place: Place, shop: Path, *words: str) -> Path:
    """The worktree of a conversation that has had its turn."""
    place.run("run", "-C", str(shop), *words, "say hello")
    return Path(place.json("inspect", "@last")["settings"]["cwd"])


def test_a_conversation_works_on_a_branch_of_its_own_and_the_repository_stays_as_it_was(
    place: Place, shop: Path
) -> None:
    tree = begun(place, shop, "--worktree", "fix")
    assert (git(tree, "branch", "--show-current"), (tree / "src" / "a.txt").read_text()) == ("fix", "one\n")
    assert git(shop, "branch", "--show-current") == "main"
    (row,) = place.json("worktree", "--json")
    assert (row["worktree"], row["repository"], row["uncommitted"], row["ahead"]) == ("fix", str(shop), 0, 0)
    assert "shop@fix" in place.said("ls")


def test_without_a_name_it_is_called_by_the_first_words(place: Place, shop: Path) -> None:
    place.run("run", "-C", str(shop), "--worktree", "say why does it fail, please?")
    (row,) = place.json("worktree", "--json")
    assert row["worktree"].startswith("say-why-does-it-")
    assert place.said("inspect", "@last", "--format", "{name}") == row["worktree"]


def test_its_name_is_that_of_the_conversation_unless_another_has_it_or_one_is_given(place: Place, shop: Path) -> None:
    begun(place, shop, "--worktree", "feat/login")
    assert place.json("inspect", "feat/login")["settings"]["cwd"].endswith("feat-login")
    begun(place, shop, "--worktree", "other", "--name", "mine")
    assert place.said("inspect", "@last", "--format", "{name}") == "mine"
    place.run("worktree", "remove", "feat/login")
    begun(place, shop, "--worktree", "feat/login")
    assert place.said("inspect", "@last", "--format", "{name}").startswith("say-hello")
    place.run("rm", "-f", "feat/login", "mine")


def test_a_conversation_that_begins_below_works_below(place: Place, shop: Path) -> None:
    assert begun(place, shop / "src", "--worktree", "fix").name == "src"


def test_uncommitted_changes_are_said_to_stay_behind(place: Place, shop: Path) -> None:
    (shop / "new.txt").write_text("new\n")
    told = place.run("run", "-C", str(shop), "--worktree", "fix", "say hello").stderr
    assert "1 uncommitted change stays behind" in told


def test_a_committed_worktree_is_merged_and_then_removed_with_its_branch(place: Place, shop: Path) -> None:
    tree = begun(place, shop, "--worktree", "fix")
    (tree / "src" / "a.txt").write_text("two\n")
    commit(tree, "second")
    assert place.said("worktree", "merge", "fix") == "fix: merged 1 commit of fix into main"
    assert (shop / "src" / "a.txt").read_text() == "two\n"
    assert place.said("worktree", "remove", "fix") == "fix: removed, with its branch"
    assert not tree.exists()
    assert git(shop, "branch", "--list", "fix") == ""


def test_uncommitted_changes_are_never_removed_nor_left_out_of_a_merge(place: Place, shop: Path) -> None:
    tree = begun(place, shop, "--worktree", "fix")
    (tree / "new.txt").write_text("new\n")
    for what in ("remove", "merge"):
        assert "fix has 1 uncommitted change in" in place.run("worktree", what, "fix", code=6).stderr
    assert (tree / "new.txt").read_text() == "new\n"


def test_a_branch_that_is_not_merged_stays(place: Place, shop: Path) -> None:
    tree = begun(place, shop, "--worktree", "fix")
    (tree / "b.txt").write_text("b\n")
    commit(tree, "second")
    assert place.said("worktree", "remove", "fix") == "fix: removed; the branch fix stays: 1 commit is not merged"
    assert "second" in git(shop, "log", "--oneline", "fix")


def test_commits_on_no_branch_are_not_removed(place: Place, shop: Path) -> None:
    tree = begun(place, shop, "--worktree", "fix")
    git(tree, "checkout", "-q", "--detach")
    (tree / "b.txt").write_text("b\n")
    commit(tree, "second")
    assert "1 commit is not merged, and on no branch" in place.run("worktree", "remove", "fix", code=6).stderr
    assert (tree / "b.txt").exists()


def test_a_merge_that_fails_leaves_everything_as_it_was(place: Place, shop: Path) -> None:
    tree = begun(place, shop, "--worktree", "fix")
    (tree / "src" / "a.txt").write_text("theirs\n")
    commit(tree, "theirs")
    (shop / "src" / "a.txt").write_text("ours\n")
    commit(shop, "ours")
    failed = place.run("worktree", "merge", "fix", code=6).stderr
    assert "both changed src/a.txt; nothing was changed" in failed
    assert (shop / "src" / "a.txt").read_text() == "ours\n"
    assert git(shop, "status", "--porcelain") == ""


def test_a_conversation_names_its_worktree_and_one_at_work_keeps_it(place: Place, shop: Path) -> None:
    place.run("run", "-d", "-C", str(shop), "--name", "busy", "--worktree", "fix", "count 9000")
    assert "is at work in fix" in place.run("worktree", "remove", "busy", code=6).stderr
    place.run("interrupt", "busy")
    assert place.said("worktree", "remove", "busy") == "fix: removed, with its branch"


def test_a_refused_conversation_leaves_no_worktree(place: Place, shop: Path) -> None:
    place.run("run", "-C", str(shop), "--worktree", "fix", "-c", "model_provider=nobody", "say hello", code=2)
    assert place.json("worktree", "--json") == []
    assert git(shop, "branch", "--list", "fix") == ""


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--worktree", "main"), "there is a branch main already"),
        (("--worktree", "a..b"), "can't be the name of a branch"),
        (("-C", "/", "--worktree", "x"), "is in no git repository"),
    ],
)
def test_wrong_words_are_told(place: Place, shop: Path, words: tuple[str, ...], told: str) -> None:
    assert told in place.run("run", *words, "say hello", cwd=shop, code=2).stderr


def test_an_unknown_worktree_is_named_in_the_error(place: Place, shop: Path) -> None:
    begun(place, shop, "--worktree", "fix")
    assert "did you mean fix?" in place.run("worktree", "remove", "fixx", code=5).stderr
    assert "no worktree is named" in place.run("worktree", "merge", code=2).stderr


def test_a_word_that_stands_for_several_conversations_is_ambiguous(place: Place, shop: Path, tmp_path: Path) -> None:
    begun(place, shop, "--worktree", "fix")
    known = place.json("inspect", "@last")["id"]
    place.run("rename", known, "")  # a name is one conversation's alone
    beginning, other = known[:8], f"{known[:-1]}{'0' if known[-1] != '0' else '1'}"
    (tmp_path / "other.jsonl").write_text(place.said("export", known).replace(known, other))
    place.run("import", str(tmp_path / "other.jsonl"))
    assert f"'{beginning}' is ambiguous" in place.run("worktree", "remove", beginning, code=5).stderr


def test_the_list_fits_a_terminal_of_eighty_columns(place: Place, shop: Path) -> None:
    begun(place, shop, "--worktree", "a-name-that-is-about-as-long-as-names-are")
    terminal = place.terminal("worktree", columns=80)
    assert terminal.end() == 0
    assert len(terminal.screen.splitlines()) == terminal.written.rstrip().count("\n") + 1 == 2
    assert "a-name-that-is-about-as-long-as-names-are" in terminal.screen
