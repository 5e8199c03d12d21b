"""The daemon, its clients and its config."""

from msgspec.structs import replace

from actors.messages import conversation as m
from actors.messages import routing as rm
from actors.vocabulary.answers import ConversationSummary, Done
from actors.vocabulary.ids import ConnectionId
from transports import supervisor_requests as r
from transports.dialects.control.api import params as p
from transports.dialects.control.api.subscriptions import ControlCall
from transports.dialects.kit.script import (
    Script,
    ask,
    command_each,
    look_up,
)
from transports.supervisor_answers import (
    Agents,
    AgentTrial,
    Clients,
    ClientSubscription,
    ConfigValue,
    DaemonStatus,
    ReloadedConfig,
    StoppingDaemon,
)


def list_clients(_: ControlCall, __: p.EmptyParams) -> Script[Clients]:
    """List clients with their subscriptions. Conversations are asked in turn, not in a burst."""
    awake = (yield from look_up(rm.ListAwake())).heads
    readers: dict[ConnectionId, list[ClientSubscription]] = {}
    for head in awake:
        (summary,) = yield from command_each([(head.conversation, m.Inspect())])
        for reader in summary.readers if isinstance(summary, ConversationSummary) else ():
            place = ClientSubscription(
                head.conversation, reader.subscription, reader.seq, reader.behind, reader.read_only
            )
            readers.setdefault(reader.connection, []).append(place)
    clients = (yield from ask(r.ListClients())).clients
    return Clients(tuple(replace(row, attached=tuple(readers.get(row.connection, ()))) for row in clients))


def kill_client(_: ControlCall, params: p.KillClientParams) -> Script[Done]:
    return ask(r.KillClient(ConnectionId(params.connection)))


def status(_: ControlCall, __: p.EmptyParams) -> Script[DaemonStatus]:
    return ask(r.AskStatus())


def reload(_: ControlCall, __: p.EmptyParams) -> Script[ReloadedConfig]:
    return ask(r.ReloadConfig())


def stop_daemon(_: ControlCall, params: p.DownParams) -> Script[StoppingDaemon]:
    return ask(r.StopDaemon(params.drain_s))


def config_get(_: ControlCall, params: p.ConfigGetParams) -> Script[ConfigValue]:
    return ask(r.ReadConfig(params.key))


def list_agents(_: ControlCall, __: p.EmptyParams) -> Script[Agents]:
    return ask(r.ListAgents())


def check_agent(_: ControlCall, params: p.CheckAgentParams) -> Script[AgentTrial]:
    return ask(r.CheckAgent(params.agent, params.seconds))
