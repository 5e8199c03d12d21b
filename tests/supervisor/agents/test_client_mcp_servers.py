"""The servers that clients give: what is kept of them, which count, and where their programs may run."""

import asyncio

import pytest

from actors.vocabulary.ids import ConversationId
from actors.vocabulary.settings import ApprovalPolicy, DangerFullAccess, ReadOnly, SandboxPolicy, Settings
from supervisor.agents.client_mcp_servers import KEPT, GivenServers
from supervisor.agents.client_server_rules import (
    MOST,
    ProgramPlace,
    describe_server,
    may_start,
    place_of_program,
    usable_servers,
)
from transports.supervisor_answers import Server
from transports.supervisor_requests import GivenServer

ONE, TWO = ConversationId("one"), ConversationId("two")


def program(name: str = "toys", **env: str) -> GivenServer:
    return GivenServer(name, command=("toys", "--serve"), env=env)


def test_answers_hold_for_what_is_given_again_unchanged_and_for_nothing_else() -> None:
    async def work() -> None:
        servers = GivenServers()
        servers.give(ONE, (program("a"), program("b")))
        given = servers.servers_of(ONE)
        await servers.decide(given, given.servers, approved=True)
        servers.give(ONE, (program("a"), program("b", KEY="other")))
        again = servers.servers_of(ONE)
        assert [again.decision(one) for one in again.servers] == [True, None]

    asyncio.run(work())


def test_a_conversation_that_is_deleted_or_given_nothing_keeps_nothing() -> None:
    servers = GivenServers()
    servers.give(ONE, (program(),))
    servers.give(TWO, (program(),))
    servers.forget(ONE)
    servers.give(TWO, ())
    assert [servers.servers_of(one).servers for one in (ONE, TWO)] == [(), ()]


def test_beyond_the_bounds_what_was_given_longest_ago_is_forgotten() -> None:
    servers = GivenServers(kept_bytes=1000)
    for name in ("one", "two", "three"):
        servers.give(ConversationId(name), (program(KEY="x" * 400),))
    assert servers.servers_of(ONE).servers == ()
    assert servers.servers_of(TWO).servers != ()
    many = GivenServers()
    for number in range(KEPT + 1):
        many.give(ConversationId(str(number)), (program(),))
    assert many.servers_of(ConversationId("0")).servers == ()
    assert many.servers_of(ConversationId("1")).servers != ()


def test_approved_programs_are_protected_before_the_answer_counts() -> None:
    async def work() -> None:
        protected: list[tuple[str, ...]] = []

        async def protect() -> None:
            protected.append(servers.programs())

        servers = GivenServers(protect)
        servers.give(ONE, (program(), program("other")))
        given = servers.servers_of(ONE)
        await servers.decide(given, given.servers[:1], approved=True)
        await servers.decide(given, given.servers[1:], approved=False)
        assert protected == [("toys", "--serve")]

    asyncio.run(work())


def test_of_too_many_and_of_equal_names_the_first_count_and_the_others_are_told() -> None:
    given = (*(program(f"s{number}") for number in range(MOST)), program("s0"), program("more\nthan one line"))
    found, notices = usable_servers(given, ())
    assert len(found) == MOST
    assert notices == [
        "MCP server s0, which a client gives, is left out: another one that the client gives has the same name",
        f"MCP server more than one line, which a client gives, is left out: a conversation can be given {MOST}",
    ]


def test_of_an_address_no_user_password_or_query_is_shown() -> None:
    one = GivenServer(
        "web", kind="http", url="https://me:secret@mcp.example:1/x?key=secret#secret", headers={"K": "secret"}
    )
    assert describe_server(one) == Server(name="web", kind="http", url="https://mcp.example:1/x", headers=("K",))
    assert describe_server(GivenServer("web", kind="http", url="https://[secret")).url == "?"


@pytest.mark.parametrize(
    ("sandbox", "policy", "confines", "place"),
    [
        (DangerFullAccess(), ApprovalPolicy.UNTRUSTED, False, ProgramPlace.OUTSIDE),
        (ReadOnly(), ApprovalPolicy.ON_REQUEST, True, ProgramPlace.ASK),
        (ReadOnly(), ApprovalPolicy.ON_FAILURE, False, ProgramPlace.ASK),
        (ReadOnly(), ApprovalPolicy.NEVER, True, ProgramPlace.INSIDE),
        (ReadOnly(), ApprovalPolicy.NEVER, False, ProgramPlace.NOWHERE),
    ],
)
def test_a_program_runs_outside_of_a_sandbox_only_where_there_is_none_or_a_person_says_so(
    sandbox: SandboxPolicy, policy: ApprovalPolicy, confines: bool, place: ProgramPlace
) -> None:
    settings = Settings(model="m", cwd="/w", sandbox=sandbox, approval_policy=policy)
    assert place_of_program(settings, confines=confines) is place


@pytest.mark.parametrize("place", ProgramPlace)
def test_a_program_that_a_person_refused_is_started_nowhere_and_where_a_person_is_asked_it_needs_a_yes(
    place: ProgramPlace,
) -> None:
    assert not may_start(place, decision=False)
    assert may_start(place, decision=None) is (place in {ProgramPlace.INSIDE, ProgramPlace.OUTSIDE})
    assert may_start(place, decision=True) is (place is not ProgramPlace.NOWHERE)
