"""Work that is longer than its client waits, and calls that outlive their daemon, over a real one."""

from tests.scenarios.stage import POLICY_A, POLICY_B, Stage

SLEEPS = 'call shell ["sleep","60"]'


def test_a_task_is_begun_waited_for_in_pieces_and_continued(stage: Stage) -> None:
    with stage.bridge(*POLICY_A) as client:
        begun = client.result("start_conversation", {"prompt": SLEEPS})["structuredContent"]
        thread = begun["threadId"]
        piece = {"threadId": thread, "after": begun["after"], "seconds": 0.2}
        told = client.result("wait_conversation", piece)["structuredContent"]
        assert told["state"] == "running"
        client.result("interrupt_conversation", {"threadId": thread, "reason": "enough"})
        piece = {"threadId": thread, "after": told["after"]}
        told = client.result("wait_conversation", piece)["structuredContent"]
        assert (told["ending"], told["content"]) == ("interrupted", "enough")
        sent = client.result("send", {"threadId": thread, "prompt": "say works"})["structuredContent"]
        ended = client.result("wait_conversation", {"threadId": thread, "after": sent["after"]})
        assert ended["structuredContent"]["content"] == "works"


def test_a_question_ends_a_wait_and_another_wait_sees_what_came_of_the_answer(stage: Stage) -> None:
    with stage.bridge(*POLICY_B) as client:
        prompt = 'call shell ["touch","approved"]; then; say thanks'
        begun = client.result("start_conversation", {"prompt": prompt})["structuredContent"]
        place = {"threadId": begun["threadId"], "after": begun["after"]}
        asked = client.result("wait_conversation", place)["structuredContent"]
        (question,) = asked["questions"]
        assert "touch approved" in question["asks"]
        client.result("answer_approval", {"approvalId": question["approvalId"], "decision": "denied"})
        place["after"] = asked["after"]
        assert client.result("wait_conversation", place)["structuredContent"]["content"] == "thanks"


def test_an_equal_call_with_the_same_id_is_a_new_one_where_the_first_was_answered(own_stage: Stage) -> None:
    with own_stage.bridge(*POLICY_A) as client:
        threads = []
        for _ in range(3):
            mark = client.mark()
            client.tool("codex", {"prompt": "say one"}, 1)
            threads.append(client.answer(1, after=mark)["result"]["structuredContent"]["threadId"])
            own_stage.kill_daemon()
            client.settle()
        assert len(set(threads)) == 3
        for thread in threads:
            reply = client.result("codex-reply", {"threadId": thread, "prompt": "say works"})
            assert reply["structuredContent"] == {"threadId": thread, "sessionId": thread, "content": "works"}


def test_a_call_that_is_said_again_after_its_daemon_was_killed_begins_nothing_anew(own_stage: Stage) -> None:
    with own_stage.bridge(*POLICY_A) as client:
        client.tool("codex", {"prompt": SLEEPS}, 1)
        thread = client.event("exec_command_begin")["_meta"]["threadId"]
        own_stage.kill_daemon()
        lost = client.answer(1)["error"]
        assert lost["data"]["threadId"] == thread
        mark = client.mark()
        client.tool("codex", {"prompt": SLEEPS}, 1)
        result = client.answer(1, after=mark)["result"]
        assert result["structuredContent"]["threadId"] == thread
        assert "the daemon was stopped" in result["content"][0]["text"]
        assert len(own_stage.asked("sleep")) == 1
        reply = client.result("codex-reply", {"threadId": thread, "prompt": "say works"}, 2)
        assert reply["structuredContent"]["content"] == "works"
        assert len(client.result("list_conversations", {}, 3)["structuredContent"]["conversations"]) == 1
