"""A question in a line, for clients that can only be told of it."""

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.ids import CallId
from tests.support.work import command
from transports.dialects.kit.questions import describe_question


@pytest.mark.parametrize(
    ("subject", "line"),
    [
        (command("npm", "test", cwd="/w"), "`npm test` in `/w`"),
        (ev.CommandSubject(command=("npm", "test")), "`npm test`"),
        (ev.FilesSubject(changes={"/w/a": "delete"}), "`delete /w/a`"),
        (ev.OtherSubject(), "`read: Read a`"),
    ],
)
def test_a_question_names_its_directory_where_that_is_known(subject: ev.QuestionSubject, line: str) -> None:
    call = ev.AgentCall(title="Read a", sort="read")
    asked = ev.ApprovalRequested(call_id=CallId("c"), agent="claude", subject=subject, agent_call=call)
    assert describe_question(asked) == line
