"""Patches of the model, as a tool and inside shell: verified, judged, asked about, applied whole, shown."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.settings import ApprovalPolicy, Decision, ReadOnly, WorkspaceWrite
from tests.supervisor.agents.own.turns.requests import check_well_formed, talk
from tests.support.confinement import confinable
from tests.support.engine_harness import EngineHarness, Talk
from tests.support.model_server import ModelServer

UPDATE = "*** Begin Patch\n*** Update File: f.txt\n@@\n-original content\n+modified content\n*** End Patch"
ADD = "*** Begin Patch\n*** Add File: new.txt\n+new\n*** End Patch"
SUCCESS = "Success. Updated the following files:\n"


def as_tool(patch: str) -> str:
    return f"call apply_patch {json.dumps({'input': patch})}; then; say done"


def as_argv(patch: str) -> str:
    return f"call shell {json.dumps(['apply_patch', patch])}; then; say done"


def as_heredoc(patch: str) -> str:
    script = f"apply_patch <<'EOF'\n{patch}\nEOF"
    return f"call shell {json.dumps(['bash', '-lc', script])}; then; say done"


WAYS = pytest.mark.parametrize("way", [as_tool, as_argv, as_heredoc])


def told(server: ModelServer) -> str:
    check_well_formed(server.requests[-1])
    (output,) = [line[2] for line in talk(server) if line[0] == "output"]
    return output


def asked(conversation: Talk, decision: Decision, said: str, reason: str = "") -> ev.ApprovalRequested:
    begun = conversation.start(said)
    question = conversation.wait(ev.ApprovalRequested)
    conversation.decide(question.approval_id, decision, reason)
    conversation.result(begun)
    return question


@WAYS
def test_an_approved_patch_is_applied_however_it_was_given(
    harness: EngineHarness, server: ModelServer, way: Callable[[str], str]
) -> None:
    (harness.workspace / "f.txt").write_text("original content\n")
    conversation = harness.talk(approval_policy=ApprovalPolicy.UNTRUSTED, sandbox=WorkspaceWrite())
    question = asked(conversation, Decision.APPROVED, way(UPDATE))
    path = str(harness.workspace / "f.txt")
    assert (question.reason, question.grant_root) == (None, None)
    assert question.subject.model_dump(mode="json") == {
        "kind": "files",
        "changes": {
            path: {
                "update": {
                    "unified_diff": "@@ -1 +1 @@\n-original content\n+modified content\n",
                    "move_path": None,
                }
            }
        },
    }
    assert (harness.workspace / "f.txt").read_text() == "modified content\n"
    assert told(server) == f"{SUCCESS}M f.txt\n"
    (begin,), (end,) = conversation.all(ev.WorkBegan), conversation.all(ev.WorkEnded)
    assert (begin.auto_approved, begin.subject) == (False, question.subject)
    assert (end.kind, end.status, end.output, end.errors) == ("files", "completed", f"{SUCCESS}M f.txt\n", "")
    types = conversation.types()
    assert types[types.index("approval_requested") : types.index("tool_output")] == [
        *("approval_requested", "approval_resolved", "work_began", "work_ended", "turn_diff"),
    ]


@confinable
@pytest.mark.parametrize(("sandbox", "outside"), [(ReadOnly(), True), (WorkspaceWrite(), False)])
def test_a_question_about_a_patch_says_whether_it_writes_what_the_sandbox_forbids(
    harness: EngineHarness, sandbox: ReadOnly | WorkspaceWrite, *, outside: bool
) -> None:
    conversation = harness.talk(approval_policy=ApprovalPolicy.UNTRUSTED, sandbox=sandbox)
    question = asked(conversation, Decision.DENIED, as_tool(ADD))
    assert (question.reason, question.outside_sandbox) == (None, outside)


def test_a_patch_inside_the_roots_needs_nobody(harness: EngineHarness, server: ModelServer) -> None:
    conversation = harness.talk(approval_policy=ApprovalPolicy.ON_REQUEST, sandbox=WorkspaceWrite())
    conversation.ask(as_tool(ADD))
    assert conversation.wait(ev.WorkBegan).auto_approved
    assert (harness.workspace / "new.txt").read_text() == "new\n"
    assert told(server) == f"{SUCCESS}A new.txt\n"


@pytest.mark.parametrize(("reason", "text"), [("", "patch rejected by user"), ("no", "patch rejected by user: no")])
def test_a_denied_patch_writes_nothing(harness: EngineHarness, server: ModelServer, reason: str, text: str) -> None:
    conversation = harness.talk(approval_policy=ApprovalPolicy.UNTRUSTED)
    asked(conversation, Decision.DENIED, as_tool(ADD), reason)
    assert told(server) == text
    assert not (harness.workspace / "new.txt").exists()
    assert not conversation.all(ev.WorkBegan)


@pytest.mark.parametrize(
    ("patch", "text"),
    [
        (UPDATE, "error: Failed to read file to update {cwd}/f.txt: No such file or directory (os error 2)"),
        ("nonsense", "error: invalid patch: The first line of the patch must be '*** Begin Patch'"),
        ("*** Begin Patch\n*** End Patch", "patch rejected: empty patch"),
    ],
)
def test_a_patch_that_does_not_fit_is_explained_to_the_model(
    harness: EngineHarness, server: ModelServer, patch: str, text: str
) -> None:
    conversation = harness.talk()
    conversation.ask(as_tool(patch))
    assert told(server).startswith(text.format(cwd=harness.workspace).removesuffix(" (os error 2)"))
    assert not conversation.all(ev.WorkBegan)


def test_a_patch_is_refused_where_nothing_may_be_written_and_nobody_is_asked(
    harness: EngineHarness, server: ModelServer
) -> None:
    conversation = harness.talk(sandbox=ReadOnly())
    conversation.ask(as_tool(ADD))
    reason = "writing is blocked by the read-only sandbox; rejected by user approval settings"
    assert told(server) == f"patch rejected: {reason}"
    assert not (harness.workspace / "new.txt").exists()


def test_a_file_that_changed_while_the_question_waited_stops_the_whole_patch(
    harness: EngineHarness, server: ModelServer
) -> None:
    (harness.workspace / "f.txt").write_text("original content\n")
    conversation = harness.talk(approval_policy=ApprovalPolicy.UNTRUSTED)
    begun = conversation.start(as_tool(UPDATE))
    question = conversation.wait(ev.ApprovalRequested)
    (harness.workspace / "f.txt").write_text("somebody else's\n")
    conversation.decide(question.approval_id, Decision.APPROVED)
    conversation.result(begun)
    assert conversation.wait(ev.WorkEnded).status == "failed"
    assert told(server).startswith("error: ")
    assert (harness.workspace / "f.txt").read_text() == "somebody else's\n"


def test_the_diff_of_a_turn_adds_up_and_begins_anew_with_the_next(harness: EngineHarness) -> None:
    (harness.workspace / "f.txt").write_text("original content\n")
    conversation = harness.talk()
    first, second = (f"call apply_patch {json.dumps({'input': patch})}" for patch in (UPDATE, ADD))
    conversation.ask(f"{first}; then; {second}; then; say done")
    diffs = [one.unified_diff for one in conversation.all(ev.TurnDiff)]
    assert [diff.count("diff --git") for diff in diffs] == [1, 2]
    conversation.ask(as_tool("*** Begin Patch\n*** Delete File: new.txt\n*** End Patch"))
    assert conversation.all(ev.TurnDiff)[-1].unified_diff.count("diff --git") == 1


def test_a_heredoc_patch_is_relative_to_the_calls_workdir(harness: EngineHarness) -> None:
    (harness.workspace / "sub").mkdir()
    call = {"command": ["apply_patch", ADD], "workdir": "sub"}
    harness.talk().ask(f"call shell {json.dumps(call)}; then; say done")
    assert Path(harness.workspace, "sub", "new.txt").read_text() == "new\n"


@WAYS
def test_a_patch_in_a_directory_that_does_not_exist_fails_and_makes_nothing(
    harness: EngineHarness, server: ModelServer, way: Callable[[str], str]
) -> None:
    gone = harness.home / "gone"
    harness.talk(cwd=gone).ask(way(ADD))
    assert told(server).startswith(f"error: the directory '{gone}' does not exist")
    assert not gone.exists()
