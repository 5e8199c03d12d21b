"""The ceiling for clients and their models: more is refused by name, never silently reduced."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.runtime.shared import call_on_loop
from actors.vocabulary.errors import ConfigError, NotAllowed
from actors.vocabulary.ids import Caller, ConnectionId
from actors.vocabulary.settings import (
    ApprovalPolicy,
    DangerFullAccess,
    ReadOnly,
    SandboxPolicy,
    Settings,
    WorkspaceWrite,
)
from supervisor.config.load import load
from supervisor.services import altered_settings, client_settings
from supervisor.services.altered_settings import pins_for
from tests.supervisor.services.test_services import ServicesHarness
from tests.transports.house import running_loop
from transports import supervisor_requests as ask
from transports.dialect import Client
from transports.messages import ServiceAnswer, ServiceRequest
from transports.supervisor_answers import SettingsMade

DEMO = 'model_provider = "demo"\n'
DANGER = ask.Person(sandbox="danger-full-access")


class Place:
    """A daemon's services, a client below a home, and a config that a test chooses."""

    def __init__(self, harness: ServicesHarness, base: Path) -> None:
        self._harness = harness
        self.base = base
        self.home = base / "home"
        self.work = self.home / "work"
        self.work.mkdir(parents=True)
        self.configure("")

    def configure(self, lines: str, *, demo: bool = True) -> None:
        file = self.base / "config.toml"
        file.write_text((DEMO if demo else "") + lines)
        self._harness.engine.loaded_config = load(str(file), environ={})

    def serve(self, request: ask.SupervisorRequest, **env: str) -> Any:
        client = Client(ConnectionId("c"), cwd=str(self.work), env={"HOME": str(self.home), **env})
        answers: asyncio.Queue[Any] = asyncio.Queue()

        class Box:
            def tell(self, message: object) -> None:
                answers.put_nowait(message)

        asked = ServiceRequest(request, Caller(client.connection, 1), client, Box())
        call_on_loop(self._harness.engine.loop.loop, self._harness.services.tell, asked)

        async def wait() -> Any:
            return await asyncio.wait_for(answers.get(), 20)

        served = asyncio.run_coroutine_threadsafe(wait(), self._harness.engine.loop.loop).result(20)
        assert isinstance(served, ServiceAnswer)
        return served.answer

    def make(self, person: ask.Person | None = None, **wish: Any) -> Any:
        return self.serve(ask.MakeSettings(person=person or ask.Person(), **wish))


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with running_loop() as loop:
        harness = ServicesHarness(loop, tmp_path)
        yield Place(harness, tmp_path)
        loop.call(lambda: None)
        harness.engine.journal.close()
        asyncio.run_coroutine_threadsafe(loop.loop.shutdown_default_executor(), loop.loop).result(10)


def made(answer: object) -> Settings:
    assert isinstance(answer, SettingsMade), answer
    return answer.settings


def refused(answer: object, *words: str) -> None:
    assert isinstance(answer, NotAllowed), answer
    for word in words:
        assert word in answer.message


@pytest.mark.parametrize("policy", ["untrusted", "on-failure", "on-request", "never"])
def test_workspace_write_may_be_asked_for_with_any_approval_policy(place: Place, policy: str) -> None:
    settings = made(place.make(sandbox="workspace-write", approval_policy=policy))
    assert (settings.sandbox, settings.approval_policy.value) == (WorkspaceWrite(), policy)


@pytest.mark.parametrize(
    "wish",
    [
        {"sandbox": "danger-full-access"},
        {"sandbox": "danger-full-access", "approval_policy": "untrusted"},
        {"config": {"sandbox_mode": "danger-full-access"}},
        {"profile": "open"},
        {"config": {"profile": "open"}},
    ],
)
def test_a_wider_sandbox_is_refused_whichever_way_it_is_asked_for(place: Place, wish: dict[str, Any]) -> None:
    place.configure('[profiles.open]\nsandbox_mode = "danger-full-access"\n')
    refused(place.make(**wish), "danger-full-access", "workspace-write", "greenroom.mcp.max_sandbox")


def test_the_key_raises_and_lowers_the_ceiling(place: Place) -> None:
    place.configure('[greenroom.mcp]\nmax_sandbox = "danger-full-access"\n')
    assert made(place.make(sandbox="danger-full-access", approval_policy="never")).sandbox == DangerFullAccess()
    place.configure('[greenroom.mcp]\nmax_sandbox = "read-only"\n')
    refused(place.make(sandbox="workspace-write"), "workspace-write", "(read-only)")
    assert made(place.make(sandbox="read-only")).sandbox == ReadOnly()


@pytest.mark.parametrize("person", [DANGER, ask.Person(config={"sandbox_mode": "danger-full-access"})])
def test_settings_given_to_the_bridge_by_the_person_are_no_wish_of_a_client(place: Place, person: ask.Person) -> None:
    assert made(place.make(person)).sandbox == DangerFullAccess()
    made(place.make(person, sandbox="danger-full-access", approval_policy="never"))
    assert made(place.make(person, sandbox="read-only")).sandbox == ReadOnly()


def test_a_config_that_is_wider_but_asks_about_everything_keeps_asking(place: Place) -> None:
    place.configure('sandbox_mode = "danger-full-access"\napproval_policy = "untrusted"\n')
    assert made(place.make()).sandbox == DangerFullAccess()
    for policy in ("never", "on-failure", "on-request"):
        refused(place.make(approval_policy=policy), f"approval-policy {policy}", "untrusted")
    made(place.make(approval_policy="never", sandbox="workspace-write"))


def test_only_the_config_says_what_workspace_write_opens(place: Place) -> None:
    for key, value in {"network_access": True, "writable_roots": ["/etc"]}.items():
        wish: dict[str, Any] = {"sandbox_workspace_write": {key: value}}
        refused(place.make(sandbox="workspace-write", config=wish), f"sandbox_workspace_write.{key}")
        refused(place.make(sandbox="workspace-write", config={f"sandbox_workspace_write.{key}": value}), key)
    inside = {"sandbox_workspace_write.writable_roots": [str(place.work / "sub")]}
    made(place.make(sandbox="workspace-write", config=inside))
    (place.work / "way-out").symlink_to("/etc")
    outside = {"sandbox_workspace_write.writable_roots": [str(place.work / "way-out")]}
    refused(place.make(sandbox="workspace-write", config=outside), "outside of the working directory")
    place.configure("[sandbox_workspace_write]\nnetwork_access = true\nexclude_slash_tmp = true\n")
    made(place.make(sandbox="workspace-write"))
    narrow = {"sandbox_workspace_write.exclude_slash_tmp": False}
    refused(place.make(sandbox="workspace-write", config=narrow), "exclude_slash_tmp")


def test_a_directory_that_holds_the_home_is_not_a_client_s_to_open(place: Place) -> None:
    for cwd in ("/", str(place.base), str(place.home), str(place.work / "..")):
        refused(place.make(sandbox="workspace-write", cwd=cwd), "makes the whole home directory writable")
        made(place.make(sandbox="read-only", cwd=cwd))
        made(place.make(ask.Person(cwd=cwd), sandbox="workspace-write"))
    (place.work / "way-home").symlink_to(place.home)
    refused(place.make(sandbox="workspace-write", cwd="way-home"), "whole home directory")
    made(place.make(sandbox="workspace-write", cwd=str(place.work / "project")))


def test_a_client_that_was_started_above_the_home_opens_it_only_where_a_person_has_said_so(place: Place) -> None:
    place.work = place.home
    refused(place.make(sandbox="workspace-write"), "makes the whole home directory writable")
    made(place.make(sandbox="workspace-write", cwd="work"))
    place.configure('sandbox_mode = "workspace-write"\n')
    made(place.make())
    made(place.make(sandbox="workspace-write"))


@pytest.mark.parametrize(
    "config",
    [
        {"model_providers.evil.base_url": "http://x"},
        {"model_providers": {"evil": {"base_url": "http://x", "env_key": "OPENAI_API_KEY"}}},
        {"model_providers.openrouter.http_headers.X": "y"},
        {"notify": ["touch", "/tmp/x"]},
        {"shell_environment_policy.inherit": "all"},
        {"shell_environment_policy": {"ignore_default_excludes": True}},
        {"experimental_instructions_file": "/etc/passwd"},
        {"profiles.mine.sandbox_mode": "danger-full-access"},
        {"greenroom.mcp.max_sandbox": "danger-full-access"},
        {"greenroom.sandbox.unix_sockets": ["/run/docker.sock"]},
        {"greenroom": {"sandbox": {"unix_sockets": ["/run/docker.sock"]}}},
    ],
)
def test_only_a_person_sets_keys_destinations_and_programs(place: Place, config: dict[str, Any]) -> None:
    refused(place.make(config=config), next(iter(config)).partition(".")[0], "config file")
    assert isinstance(place.make(ask.Person(config=config)), SettingsMade | ConfigError)


def test_providers_by_override_are_a_choice_of_the_config(place: Place) -> None:
    place.configure("[greenroom.mcp]\nallow_provider_overrides = true\n")
    config = {"model_providers.mine.base_url": "http://x", "model_provider": "mine"}
    assert made(place.make(config=config)).provider == "mine"


def test_the_command_line_has_no_ceiling(place: Place) -> None:
    config = {"model_providers.mine.base_url": "http://x", "model_provider": "mine"}
    answer = place.serve(
        ask.MakeSettings(sandbox="danger-full-access", approval_policy="never", cwd="/", config=config)
    )
    assert made(answer).sandbox == DangerFullAccess()


@pytest.mark.parametrize(
    "sandbox",
    [
        DangerFullAccess(),
        WorkspaceWrite(network_access=True),
        WorkspaceWrite(unix_sockets=(Path("/run/docker.sock"),)),
    ],
)
def test_a_turn_and_a_command_of_its_own_have_the_same_ceiling(place: Place, sandbox: SandboxPolicy) -> None:
    current = made(place.make())
    wanted = current.model_copy(update={"sandbox": sandbox, "approval_policy": ApprovalPolicy.NEVER})
    refused(place.serve(ask.PermitSettings(wanted, current, ask.Person())), "greenroom.mcp.max_sandbox")
    assert made(place.serve(ask.PermitSettings(wanted, wanted, ask.Person()))) == wanted  # somebody has given it that
    refused(place.serve(ask.RunOnce(("true",), None, None, sandbox, ask.Person())), "greenroom.mcp.max_sandbox")


# --- a model -----------------------------------------------------------------------------------------------------


def test_without_a_provider_and_a_key_a_client_gets_an_error_that_says_what_to_do(place: Place) -> None:
    place.configure("", demo=False)
    answer = place.make()
    assert isinstance(answer, ConfigError)
    for word in ("no provider is named", "OPENAI_API_KEY", "env_vars", "greenroom up", 'model_provider = "demo"'):
        assert word in answer.message
    assert made(place.make(config={"model_provider": "demo"})).provider == "demo"
    assert made(place.make(ask.Person(config={"model_provider": "demo"}))).provider == "demo"
    assert made(place.serve(ask.MakeSettings(person=ask.Person()), OPENAI_API_KEY="sk-1")).provider == "openai"
    assert made(place.serve(ask.MakeSettings())).provider == "demo"  # the command line says it once


def test_a_provider_whose_key_did_not_arrive_is_an_error_before_anything_is_made(place: Place) -> None:
    place.configure(
        'model_provider = "mine"\n[model_providers.mine]\nbase_url = "http://x"\nenv_key = "MINE"\n', demo=False
    )
    answer = place.make()
    assert isinstance(answer, ConfigError)
    assert answer.message.startswith("Missing environment variable: `MINE`; run `greenroom login` ")
    assert "env_vars" in answer.message
    assert made(place.serve(ask.MakeSettings(person=ask.Person()), MINE="k")).provider == "mine"


@pytest.mark.parametrize(
    "server",
    [{"command": "evil"}, {"enabled": True}, {"enabled": False, "command": "evil"}, {"env": {"A": "b"}}, "x"],
)
def test_a_client_can_neither_define_nor_change_an_mcp_server(place: Place, server: Any) -> None:
    place.configure('[mcp_servers.files]\ncommand = "files"\n')
    for name in ("files", "another"):
        answer = place.make(config={"mcp_servers": {name: server}})
        assert isinstance(answer, NotAllowed | ConfigError)  # some of them are no server at all
        assert f"`mcp_servers.{name}`" in answer.message


def test_a_server_of_a_client_is_refused_with_the_reason(place: Place) -> None:
    refused(place.make(config={"mcp_servers.x.command": "evil"}), "outside of every sandbox", "config file")


def test_a_client_may_switch_an_mcp_server_off(place: Place) -> None:
    place.configure('[mcp_servers.files]\ncommand = "files"\n')
    off = {"mcp_servers": {"files": {"enabled": False}}}
    assert made(place.make(config=off)).overrides == off


def test_a_client_that_names_no_sandbox_gets_what_its_directory_allows_up_to_the_ceiling(place: Place) -> None:
    (place.home / ".config").mkdir()
    assert made(place.make()).sandbox == WorkspaceWrite()
    assert made(place.make(cwd=str(place.home / ".config"))).sandbox == ReadOnly()
    place.configure('[greenroom.mcp]\nmax_sandbox = "read-only"\n')
    assert made(place.make()).sandbox == ReadOnly()
    place.configure('sandbox_mode = "read-only"\n')
    assert made(place.make()).sandbox == ReadOnly()


def test_a_directory_whose_name_is_turned_round_while_it_is_judged_is_refused(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = place.home / "link"
    (place.home / "work").mkdir(exist_ok=True)
    link.symlink_to(place.home / "work")

    def turned(*asked: Any) -> Any:
        link.unlink()
        link.symlink_to(place.home)
        return pins_for(*asked)

    assert made(place.make(cwd=str(link))).sandbox == WorkspaceWrite()
    monkeypatch.setattr(client_settings, "pins_for", turned)
    answer = place.serve(ask.MakeSettings(cwd=str(link)))
    refused(answer, "became another directory while it was looked at")


def test_that_a_workspace_is_open_is_told_once_and_that_a_directory_is_shut_each_time(place: Place) -> None:
    (place.home / ".config").mkdir()
    opened = [place.make() for _ in range(2)]
    shut = [place.make(cwd=str(place.home / ".config")) for _ in range(2)]
    told = [isinstance(one, SettingsMade) and one.notice for one in opened]
    words = "the agent may write in this directory: it is a directory of yours; `--sandbox read-only` forbids it"
    assert told == [words, None]
    for one in shut:
        assert isinstance(one, SettingsMade)
        assert "the agent may write nothing without asking, because " in one.warnings[-1]


@pytest.mark.parametrize("way", ["made", "permitted", "altered"])
@pytest.mark.parametrize("lost", ["inside", "."])
def test_a_directory_is_judged_as_it_will_be_opened_whatever_its_name_means_meanwhile(
    place: Place, monkeypatch: pytest.MonkeyPatch, way: str, lost: str
) -> None:
    """A command of an earlier turn may turn a link round between two looks at it."""
    work = place.home / "work"
    (work / "inside").mkdir(parents=True)
    link = work / "link"

    def point(target: Path) -> None:
        link.unlink(missing_ok=True)
        link.symlink_to(target)

    def turned(settings: Settings, *rest: Any) -> Any:
        point(place.home)
        found = pins_for(settings, *rest)
        point(work / lost)
        return found

    point(work / lost)
    current = made(place.make(cwd=str(work), sandbox="workspace-write"))
    monkeypatch.setattr(client_settings, "pins_for", turned)
    monkeypatch.setattr(altered_settings, "pins_for", turned)
    wanted = WorkspaceWrite(writable_roots=(link,))
    if way == "made":
        roots = {"sandbox_workspace_write": {"writable_roots": [str(link)]}}
        answer = place.make(cwd=str(work), sandbox="workspace-write", config=roots)
    elif way == "permitted":
        changed = current.model_copy(update={"sandbox": wanted})
        answer = place.serve(ask.PermitSettings(changed, current, ask.Person()))
    else:
        answer = place.serve(ask.AlterSettings(current, {"writable_roots": (str(link),)}, ask.Person()))
    refused(answer, "writable_roots", "outside of the working directory")


@pytest.mark.parametrize("scope", ["turn", "conversation"])
def test_a_client_may_make_a_budget_smaller_and_never_larger(place: Place, scope: str) -> None:
    place.configure(f"[greenroom.budget.{scope}]\nrequests = 10\n")
    for unit, smaller in (("requests", 5), ("usd", 5.0)):
        settings = made(place.make(config={f"greenroom.budget.{scope}.{unit}": smaller}))
        assert settings.overrides["greenroom"]["budget"][scope] == {unit: smaller}
    refused(place.make(config={f"greenroom.budget.{scope}.requests": 11}), f"greenroom.budget.{scope}.requests", "10")


@pytest.mark.parametrize("key", ["budget.repetitions", "budget.day.requests", "prices.x.input"])
def test_a_client_cannot_set_other_keys_about_money(place: Place, key: str) -> None:
    assert isinstance(place.make(config={f"greenroom.{key}": 1}), NotAllowed | ConfigError)


def test_a_person_may_raise_a_budget_at_the_start(place: Place) -> None:
    place.configure("[greenroom.budget.turn]\ntokens = 10\n")
    settings = made(place.serve(ask.MakeSettings(config={"greenroom.budget.turn.tokens": 500})))
    assert settings.overrides == {"greenroom": {"budget": {"turn": {"tokens": 500}}}}


def test_a_client_may_choose_an_agent_but_define_none(place: Place) -> None:
    program = place.base / "agent"
    program.touch(mode=0o755)
    place.configure(f'[agents.mine]\ncommand = "{program}"\n[agents.bare]\ncommand = "{program}"\nconfine = "none"\n')
    assert made(place.make(config={"agent": "mine"})).agent == "mine"
    assert made(place.make(agent="mine", model="big")).agent_model == "big"
    refused(place.make(config={"agents.mine.command": "/bin/sh"}), "`agents`", "an agent is a program")
    refused(place.make(config={"agents": {"mine": {"confine": "none"}}}), "`agents`", "how it is confined")


@pytest.mark.parametrize("way", ["made", "permitted", "altered"])
def test_an_agent_outside_of_every_sandbox_is_a_person_s_to_choose(place: Place, way: str) -> None:
    program = place.base / "agent"
    program.touch(mode=0o755)
    place.configure(f'[agents.bare]\ncommand = "{program}"\nconfine = "none"\n')
    current = made(place.make())
    person = ask.Person()
    match way:
        case "made":
            answer = place.make(config={"agent": "bare"})
        case "permitted":
            answer = place.serve(ask.PermitSettings(current.model_copy(update={"agent": "bare"}), current, person))
        case _:
            answer = place.serve(ask.AlterSettings(current, {"agent": "bare"}, person))
    refused(answer, "agent bare runs outside of every sandbox (agents.bare.confine)", "max_sandbox")
    assert made(place.make(person=ask.Person(agent="bare"))).agent == "bare"
    assert made(place.serve(ask.MakeSettings(agent="bare"))).agent == "bare"


def test_another_agent_needs_neither_a_model_nor_a_key_of_ours(place: Place) -> None:
    program = place.base / "agent"
    program.touch(mode=0o755)
    place.configure(f'agent = "mine"\n[agents.mine]\ncommand = "{program}"\n', demo=False)
    answer = place.make()
    assert made(answer).agent == "mine"
    assert "model" not in (answer.notice or "")
    missing = place.make(agent="claude")
    assert isinstance(missing, ConfigError)
    assert missing.message.startswith("agent claude: it is not installed: claude-agent-acp or claude-code-acp is not")
