"""The daemon, its clients and its config."""

from actors.messages import conversation as m
from actors.messages import routing as rm
from actors.vocabulary.answers import (
    ReaderStatus,
    Summary,
)
from actors.vocabulary.ids import ConnectionId, ConversationId
from transports import supervisor_requests as r
from transports.dialects.control.api import params as p
from transports.dialects.control.api.results import with_readers
from transports.dialects.control.api.subscriptions import ControlCall
from transports.dialects.kit.script import (
    Script,
    ask,
    command_each,
    look_up,
)
from transports.jsonrpc import JsonObject


def list_clients(_: ControlCall, __: p.EmptyParams) -> Script[JsonObject]:
    """List clients with their subscriptions. Conversations are asked in turn, not in a burst."""
    awake = (yield from look_up(rm.ListAwake())).heads
    readers: list[tuple[ConversationId, ReaderStatus]] = []
    for head in awake:
        (summary,) = yield from command_each([(head.conversation, m.Inspect())])
        if isinstance(summary, Summary):
            readers += [(head.conversation, reader) for reader in summary.readers]
    clients = yield from ask(r.ListClients())
    return {"clients": [with_readers(client, readers) for client in clients.value["clients"]]}


def kill_client(_: ControlCall, params: p.KillClientParams) -> Script[r.PlainAnswer]:
    return ask(r.KillClient(ConnectionId(params.connection)))


def status(_: ControlCall, __: p.EmptyParams) -> Script[r.PlainAnswer]:
    return ask(r.AskStatus())


def reload(_: ControlCall, __: p.EmptyParams) -> Script[r.PlainAnswer]:
    return ask(r.ReloadConfig())


def stop_daemon(_: ControlCall, params: p.DownParams) -> Script[r.PlainAnswer]:
    return ask(r.StopDaemon(params.drain_s))


def config_get(_: ControlCall, params: p.ConfigGetParams) -> Script[r.PlainAnswer]:
    return ask(r.ReadConfig(params.key))


def list_agents(_: ControlCall, __: p.EmptyParams) -> Script[r.PlainAnswer]:
    return ask(r.ListAgents())


def check_agent(_: ControlCall, params: p.CheckAgentParams) -> Script[r.PlainAnswer]:
    return ask(r.CheckAgent(params.agent, params.seconds))
