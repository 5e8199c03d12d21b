"""Questions over the real socket: listed, delivered after the snapshot, answered by whoever comes first."""

from tests.support.control_peer import ControlPeer, Message
from tests.support.daemon_process import DaemonProcess

ASK = "ask touch seen && echo asked-for"


def asking(client: ControlPeer) -> tuple[str, int]:
    """A conversation whose turn waits for somebody's answer, and the request that waits for its end."""
    one = client.create(provider="demo")
    sent = client.start("conversation/send", conversation=one, prompt=ASK, wait=True)
    watching = client.attach(one)
    client.wait_type(watching, "approval_requested")
    client.call("conversation/detach", subscription=watching.name)
    return one, sent


def question_of(client: ControlPeer, one: str) -> Message:
    (question,) = client.call("approvals/list", conversation=one)["approvals"]
    found: Message = question
    return found


def test_a_question_is_listed_for_everybody_and_gone_when_it_is_answered(
    client: ControlPeer, other: ControlPeer
) -> None:
    one, sent = asking(client)
    question = question_of(other, one)
    assert question["conversation"] == one
    assert question["subject"]["command"][-1] == "touch seen && echo asked-for"
    assert question in other.call("approvals/list")["approvals"]
    assert question.pop("seq") > 0
    assert question.pop("ts") > 0
    (pending,) = other.call("conversation/get", conversation=one)["pending"]
    assert {**pending, "conversation": one} == question
    assert other.call("conversation/get", conversation=one)["state"] == "waiting"
    answered = other.call("approvals/answer", approval=question["approval_id"], decision="approved", reason="fine")
    assert answered == {"approval": question["approval_id"], "decision": "approved", "option": "", "outside": False}
    assert client.answer(sent)["message"] == "asked-for"
    assert other.call("approvals/list", conversation=one) == {"approvals": []}
    late = client.refusal("approvals/answer", approval=question["approval_id"], decision="denied")
    assert late.name == "already_answered"
    assert late.data["decision"] == "approved"
    assert late.data["by"].startswith("other[")


def test_a_newcomer_is_asked_after_its_snapshot_and_only_what_is_still_open(
    client: ControlPeer, other: ControlPeer
) -> None:
    one, sent = asking(client)
    watching = other.attach(one)
    other.wait_live(watching)
    live = next(slice_ for slice_ in watching.slices if slice_["live"])
    assert [question["approval_id"] for question in live["pending"]] == [question_of(client, one)["approval_id"]]
    assert watching.types[-1] == "approval_requested", "everything before it was in the snapshot"
    assert not any("pending" in slice_ for slice_ in watching.slices if not slice_["live"])
    other.call("approvals/answer", approval=live["pending"][0]["approval_id"], decision="denied")
    client.answer(sent)
    after = client.attach(one)
    client.wait_live(after)
    assert [slice_["pending"] for slice_ in after.slices if "pending" in slice_] == [[]], "nothing is open any more"
    assert sum("pending" in slice_ for slice_ in watching.slices) == 1, "said once"


def test_unknown_and_withdrawn_questions_are_refused(client: ControlPeer) -> None:
    one, sent = asking(client)
    approval = question_of(client, one)["approval_id"]
    assert client.refusal("approvals/answer", approval="word", decision="denied").name == "unknown_approval"
    foreign = f"nobody@{approval.partition('@')[2]}"
    assert client.refusal("approvals/answer", approval=foreign, decision="denied").name == "unknown_approval"
    client.call("conversation/interrupt", conversation=one)
    assert client.answer(sent)["ending"] == "interrupted"
    late = client.refusal("approvals/answer", approval=approval, decision="approved")
    assert late.name == "already_answered"
    assert late.data["decision"] == "withdrawn"
    assert client.refusal("approvals/answer", approval=approval, decision="withdrawn").code != 0


def test_a_question_can_be_answered_when_everybody_who_saw_it_has_left(
    daemon: DaemonProcess, client: ControlPeer
) -> None:
    with daemon.connect("leaver") as leaver:
        one, _ = asking(leaver)
    approval = question_of(client, one)["approval_id"]
    watching = client.attach(one)
    client.call("approvals/answer", approval=approval, decision="abort")
    client.wait_type(watching, "turn_aborted")
