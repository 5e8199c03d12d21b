"""Answers, typed wherever they can be, over the real daemon: what is refused leaves the question open."""

import subprocess
from collections.abc import Iterator

import pytest

from tests.supervisor.agents.acp.scripted import agent_table
from tests.supervisor.cli.place import Place, a_place
from tests.support.confinement import confinable

UNTRUSTED = ("--approval", "untrusted", "--sandbox", "read-only")
ENTER = "\r"


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    """A place where the scripted agent can be chosen, too."""
    with a_place() as made:
        with (made.home / "config.toml").open("a", encoding="utf-8") as config:
            config.write(agent_table())
        made.run("up")
        yield made


def question_of(place: Place, conversation: str) -> str:
    place.run("wait", conversation, "--for", "approval", "-t", "15")
    (row,) = place.json("approvals", conversation, "--json")
    return str(row["id"])


# --- approve and deny -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ("some", "words"),
        ("words",),
        ("it's", "wrong", "--reason", "x"),
        ("--option", "reject"),
        ("--option", "x", "because", "y"),
    ],
    ids=" ".join,
)
def test_a_deny_with_words_that_mean_nothing_answers_nothing(place: Place, words: tuple[str, ...]) -> None:
    conversation = place.asking()
    question = question_of(place, conversation)
    done = place.run("deny", question, *words, code=None)
    assert done.returncode not in {0, 1}
    assert done.stdout == ""
    assert question_of(place, conversation) == question
    place.run("deny", question)


def test_a_reason_that_follows_because_is_the_reason(place: Place) -> None:
    conversation = place.asking()
    place.run("deny", question_of(place, conversation)[:8], "because", "it's", "wrong")
    place.at_rest(conversation)
    assert "exec command rejected by user: it's wrong" in place.said("logs", conversation, "--json")


@pytest.mark.parametrize("verb", ["approve", "deny"])
def test_one_name_that_is_none_among_several_answers_none_of_them(place: Place, verb: str) -> None:
    asking = [place.asking(), place.asking()]
    questions = [question_of(place, one) for one in asking]
    done = place.run(verb, questions[0], "zz", questions[1], code=5)
    assert "no open approval 'zz'" in done.stderr
    assert "nothing was answered" in done.stderr
    assert [question_of(place, one) for one in asking] == questions
    assert place.run(verb, *questions, "--option", "x", code=2).stdout == ""
    assert [question_of(place, one) for one in asking] == questions
    place.run(verb, *questions)


@confinable
def test_approve_runs_it_inside_and_outside_is_said(place: Place) -> None:
    made = place.base / "made"
    conversation = place.new(f"run touch {made}", *UNTRUSTED)
    question = question_of(place, conversation)
    assert "in the sandbox; without it, if the answer is `outside`" in place.said("approvals", question)
    place.run("approve", question)
    again = question_of(place, conversation)
    told = place.said("approvals", again)
    assert "it failed in the sandbox, may it run again without?" in told
    assert "Read-only file system" in told
    assert not made.exists()
    place.run("deny", again)
    place.at_rest(conversation)
    place.run("send", conversation, f"run touch {made}")
    third = question_of(place, conversation)
    assert place.said("approve", third, "--outside").startswith(f"{third[:8]}: approved outside the sandbox")
    place.at_rest(conversation)
    assert made.exists()


@confinable
def test_outside_is_refused_where_nothing_asks_to_leave_and_is_a_yes_where_a_yes_means_that(place: Place) -> None:
    commit = "run git -c user.name=t -c user.email=t@localhost commit -q --allow-empty -m x"
    project = place.base / "project"
    project.mkdir()
    subprocess.run(("git", "init", "-q"), cwd=project, check=True)
    conversation = place.new(commit, "--cd", str(project), "--sandbox", "workspace-write")
    question = question_of(place, conversation)
    assert "does not ask to leave the sandbox" in place.run("approve", question, "--outside", code=2).stderr
    assert question_of(place, conversation) == question
    place.run("deny", question)
    other = place.new("ask touch made", "--agent", "scripted")
    assert "approved" in place.said("approve", question_of(place, other), "--outside"), "nothing confines this agent"
    place.at_rest(other)


# --- always, and what is kept of it ---------------------------------------------------------------------------------


def test_a_yes_for_the_conversation_survives_a_killed_daemon_and_holds_in_no_other(place: Place) -> None:
    conversation = place.new("ask echo x >> kept", "--agent", "scripted")
    question = question_of(place, conversation)
    told = place.said("approve", question, "--for", "conversation")
    assert told.startswith(f"{question[:8]}: approved, also for the same later in this conversation")
    place.at_rest(conversation)
    place.kill()
    place.run("up")
    place.run("send", conversation, "ask echo x >> kept", "--wait")
    assert (place.work / "kept").read_text() == "x\nx\n"
    assert f"not asked: the yes to {question[:8]} by greenroom approve" in place.said("logs", conversation)
    fork = place.said("fork", conversation)
    for other in (place.new("ask echo x >> kept", "--agent", "scripted"), fork):
        if other == fork:
            place.run("send", fork, "ask echo x >> kept")
        place.run("deny", question_of(place, other), "--abort")
        place.at_rest(other)
    assert (place.work / "kept").read_text() == "x\nx\n"


# --- where it is watched --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("typed", "said"), [("no, because build is needed", "(no) "), ("allow_always", "(always)")])
def test_the_words_of_an_agents_question_answer_it_in_attach(place: Place, typed: str, said: str) -> None:
    conversation = place.new("ask touch made", "--agent", "scripted")
    question_of(place, conversation)
    terminal = place.terminal("attach", conversation, columns=120, rows=40)
    terminal.expect("it offers allow_always: scripted's own rule")
    terminal.expect("yes, no, always (in this conversation), abort")
    terminal.send("maybe")
    terminal.expect("> maybe_")
    terminal.send(ENTER)
    terminal.expect("that answers nothing: yes, no, always, abort")
    terminal.send("\x15")
    terminal.expect("yes, no, always (in this conversation), abort")  # again, when there was time to look up
    terminal.send(typed)
    terminal.expect(f"> {typed}_")
    terminal.send(ENTER)
    place.at_rest(conversation)
    told = place.said("logs", conversation)
    assert said in told
    assert ("The reason: build is needed" in told) == ("because" in typed)
    assert "maybe" not in told
    terminal.send("\x04")
    terminal.end()
