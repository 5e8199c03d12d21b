"""Patches: asked for by what they change, applied whole or not at all, and never over what is there."""

from tests.judges.promise import promise
from tests.judges.promises.client import Client, said
from tests.judges.promises.history import texts
from tests.judges.promises.trial import Trial, runs

MODIFY = "*** Update File: here.txt\n@@\n-original\n+modified\n"


def patch(*operations: str) -> str:
    text = "*** Begin Patch\n" + "".join(operations) + "*** End Patch"
    return f"{runs('apply_patch', text)}; then; say went on"


def applied(trial: Trial, client: Client, *operations: str) -> str:
    """Apply a patch; the output that the model was told."""
    (trial.work / "here.txt").write_text("original\n")
    client.opened(trial.settings(), patch(*operations))
    (output,) = texts(trial.model.requests[-1].body, "output")
    return output


@promise("A patch is asked for by what it changes, and applied when it was approved")
def a_patch_is_asked_for(trial: Trial) -> None:
    client = trial.server()
    path = trial.work / "here.txt"
    path.write_text("original\n")
    call = client.codex(trial.settings("untrusted"), patch(MODIFY))
    question = client.asked()
    changes = question["params"]["codex_changes"]
    assert list(changes) == [str(path)], f"it names {list(changes)}"
    assert "-original\n+modified" in changes[str(path)]["update"]["unified_diff"], f"the change is {changes}"
    assert path.read_text() == "original\n", "it was applied before it was approved"
    client.respond(question["id"], {"decision": "approved"})
    assert said(client.answer(call)) == "went on", "another text"
    assert path.read_text() == "modified\n", f"the file is {path.read_text()!r}"


@promise("A patch of which a part does not fit changes nothing, and the model is told")
def a_part_does_not_fit(trial: Trial) -> None:
    client = trial.server()
    output = applied(trial, client, MODIFY, "*** Update File: missing.txt\n@@\n-x\n+y\n")
    assert (trial.work / "here.txt").read_text() == "original\n", "a part of it was applied"
    assert "missing.txt" in output, f"the model was told {output[:80]!r}"


@promise("A patch of which a part can't be written changes nothing, and the model is told")
def a_part_cannot_be_written(trial: Trial) -> None:
    client = trial.server()
    (trial.work / "plain").write_text("no directory")
    output = applied(trial, client, MODIFY, "*** Add File: plain/new.txt\n+new\n")
    assert (trial.work / "here.txt").read_text() == "original\n", "a part of it was applied"
    assert "plain" in output, f"the model was told {output[:80]!r}"


@promise("A patch that adds a file does not silently replace one that is there")
def no_silent_replacement(trial: Trial) -> None:
    client = trial.server()
    output = applied(trial, client, "*** Add File: here.txt\n+new\n")
    text = (trial.work / "here.txt").read_text()
    assert text == "original\n", f"it is {text!r} now, and the model was told {output[:60]!r}"
