"""The variables that an agent starts with, and where its program is looked for: whole engines, real processes."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.errors import ConfigError
from actors.vocabulary.settings import DangerFullAccess, ReadOnly, SandboxPolicy, Settings, WorkspaceWrite
from supervisor.agents.acp.confinement import variables_of
from supervisor.config.agent_definitions import definition_of
from supervisor.config.load import layer, read_file
from supervisor.config.whole_config import Config
from supervisor.disk.search_paths import writable_folders
from supervisor.work.reach.known_agents import KNOWN_AGENTS
from tests.supervisor.agents.acp.scripted import PROGRAM
from tests.supervisor.work.place import CLOSED, on_linux
from tests.support.engine_harness import EngineHarness

SECRETS = {
    "GITHUB_TOKEN": "ghp-1234567890",
    "AWS_ACCESS_KEY_ID": "AKIA",
    "AWS_SECRET_ACCESS_KEY": "aws-1234567890",
    "AWS_SESSION_TOKEN": "aws-session",
    "AWS_PROFILE": "work",
    "PGPASSWORD": "pg",
    "MYSQL_PWD": "my",
    "NPM_AUTH": "npm",
    "MY_PROVIDER": "named-by-the-config-1",
    "MY_SERVER": "named-by-the-config-2",
    "A_COPY": "named-by-the-config-1",
    "STRIPE_SECRET": "x",
}
KEYS = {key: f"key-of-{key}" for known in KNOWN_AGENTS.values() for key in known.keys}
PLAIN = {"LANG": "C.UTF-8", "https_proxy": "http://proxy", "NODE_EXTRA_CA_CERTS": "/ca", "XDG_RUNTIME_DIR": "/run/x"}
OWN = {
    "claude": {"ANTHROPIC_BASE_URL", "CLAUDE_CODE_MAX_OUTPUT_TOKENS"},
    "codex": {"OPENAI_BASE_URL", "CODEX_HOME"},
    "gemini": {"GOOGLE_GEMINI_BASE_URL", "GEMINI_MODEL"},
    "opencode": {"OPENCODE_CONFIG", "OPENCODE_SERVER_PASSWORD"},
}
NAMED = {
    "model_providers": {"mine": {"name": "mine", "base_url": "http://127.0.0.1", "env_key": "MY_PROVIDER"}},
    "mcp_servers": {"s": {"url": "https://localhost", "bearer_token_env_var": "MY_SERVER"}},
}


def config(**tree: object) -> Config:
    return layer(read_file(None), tree).config


def program(folder: Path, name: str, first: str = "#!/bin/sh") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"{first}\n")
    path.chmod(0o755)
    return path


def given(tmp_path: Path, kind: str, table: Mapping[str, object], **more: str) -> Mapping[str, str]:
    """The variables of an agent of this kind, of a client that has everything."""
    program(tmp_path / "bin", KNOWN_AGENTS[kind].programs[0])
    env = {"HOME": str(tmp_path), "PATH": str(tmp_path / "bin"), **SECRETS, **KEYS, **PLAIN, **more}
    env |= dict.fromkeys((one for names in OWN.values() for one in names), "/own")
    made = config(agents={kind: table}, **NAMED)
    settings = Settings(model="", cwd=tmp_path / "project", sandbox=CLOSED, agent=kind)
    return variables_of(definition_of(kind, made, env), settings, made, env)


@pytest.mark.parametrize("kind", KNOWN_AGENTS)
def test_an_agent_gets_its_own_keys_and_nobody_elses_secrets(tmp_path: Path, kind: str) -> None:
    got = given(tmp_path, kind, {})
    assert got.keys() & {*SECRETS, *KEYS} == set(KNOWN_AGENTS[kind].keys)
    assert got.items() >= PLAIN.items()
    assert OWN.get(kind, set()) <= got.keys()


@pytest.mark.parametrize("kind", KNOWN_AGENTS)
def test_a_table_passes_on_what_it_names_or_everything(tmp_path: Path, kind: str) -> None:
    named = given(tmp_path, kind, {"env_vars": ["AWS_*", "MY_SERVER"]})
    wanted = {*(one for one in SECRETS if one.startswith("AWS_")), "MY_SERVER", *KNOWN_AGENTS[kind].keys}
    assert named.keys() & {*SECRETS, *KEYS} == wanted
    assert given(tmp_path, kind, {"env": "inherit"}).items() >= {**SECRETS, **KEYS, **PLAIN}.items()


def test_an_agent_that_works_by_a_cloud_gets_what_that_needs(tmp_path: Path) -> None:
    assert given(tmp_path, "claude", {}, CLAUDE_CODE_USE_BEDROCK="1")["AWS_SECRET_ACCESS_KEY"] == "aws-1234567890"
    assert "AWS_SECRET_ACCESS_KEY" not in given(tmp_path, "claude", {}, CLAUDE_CODE_USE_BEDROCK="0")


def test_a_variable_that_an_agents_own_settings_name_is_passed_on_and_a_projects_is_not(tmp_path: Path) -> None:
    (tmp_path / ".config/opencode").mkdir(parents=True)
    (tmp_path / ".config/opencode/opencode.jsonc").write_text('{"apiKey": "{env:STRIPE_SECRET}"} // mine')
    (tmp_path / "project").mkdir()
    (tmp_path / "project/opencode.json").write_text('{"apiKey": "{env:GITHUB_TOKEN}"}')
    assert given(tmp_path, "opencode", {}).keys() & SECRETS.keys() == {"STRIPE_SECRET"}
    (tmp_path / "codex").mkdir()
    (tmp_path / "codex/config.toml").write_text('[model_providers.x]\nenv_key = "NPM_AUTH"\n')
    table = {"env": {"CODEX_HOME": str(tmp_path / "codex")}}
    assert given(tmp_path, "codex", table).keys() & SECRETS.keys() == {"NPM_AUTH"}


@contextmanager
def engine(home: Path, command: str, environ: Mapping[str, str], table: str = "") -> Iterator[EngineHarness]:
    lines = f'[agents.mine]\ncommand = "{command}"\nargs = ["{PROGRAM}"]\n{table}\n'
    with EngineHarness(home, f"[greenroom]\ninterrupt_grace_ms = 150\n{lines}", dict(environ)) as harness:
        yield harness


@on_linux
@pytest.mark.parametrize("confine", ["workspace", "none"])
def test_a_real_agent_has_none_of_the_shells_secrets(tmp_path: Path, confine: str) -> None:
    with engine(
        tmp_path,
        sys.executable,
        {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", **SECRETS},
        f'confine = "{confine}"',
    ) as harness:
        talk = harness.talk(agent="mine", sandbox=CLOSED)
        for name in ("GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "PGPASSWORD", "PATH"):
            talk.ask(f"env {name}")
        said = [one.message for one in talk.all(ev.AgentMessage)]
        assert said == ["GITHUB_TOKEN=None", "AWS_SECRET_ACCESS_KEY=None", "PGPASSWORD=None", "PATH=/usr/bin:/bin"]


# --- where its program is looked for ------------------------------------------------------------------------------

POLICIES: dict[str, SandboxPolicy] = {"write": CLOSED, "read": ReadOnly(), "full": DangerFullAccess()}
PATHS = ("{work}/bin", "{work}/node_modules/.bin", "{work}/.venv/bin", "bin", "", ".", "{link}", "{work}/../work/bin")


@pytest.mark.parametrize(("policy", "path", "confine"), list(product(POLICIES, PATHS, ("workspace", "none"))))
def test_a_program_in_a_folder_that_turns_may_write_is_not_started_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: str, path: str, confine: str
) -> None:
    work, link = tmp_path / "work", tmp_path / "link"
    link.symlink_to(work / "bin")
    for folder in ("bin", "node_modules/.bin", ".venv/bin", "."):
        program(work / folder, "claude-agent-acp")
    monkeypatch.chdir(work)
    env = {"HOME": str(tmp_path), "PATH": path.format(work=work, link=link)}
    made = config(agents={"claude": {"confine": confine}})
    writable = writable_folders(POLICIES[policy], work, env)
    absolute = path.startswith("{")
    with pytest.raises(ConfigError, match=r"where turns may write, so it is not" if absolute else "not installed"):
        definition_of("claude", made, env, writable)
    trusted = program(tmp_path / "yours", "claude-agent-acp")
    both = {**env, "PATH": f"{env['PATH']}:{trusted.parent}"}
    found = definition_of("claude", made, both, writable_folders(CLOSED, work, both))
    assert found.argv == (str(trusted),)
    named = config(agents={"claude": {"command": f"{work}/bin/claude-agent-acp"}})  # then a person has said which
    assert definition_of("claude", named, env, writable).argv == (f"{work}/bin/claude-agent-acp",)


def test_a_program_that_is_a_link_into_the_project_is_not_started(tmp_path: Path) -> None:
    """As `npm link` makes them."""
    real = program(tmp_path / "work/dist", "index.js")
    (tmp_path / "yours").mkdir()
    (tmp_path / "yours/claude-agent-acp").symlink_to(real)
    env = {"HOME": str(tmp_path), "PATH": str(tmp_path / "yours")}
    with pytest.raises(ConfigError, match="where turns may write"):
        definition_of("claude", config(), env, writable_folders(CLOSED, tmp_path / "work", env))


@pytest.mark.parametrize("line", ["#!/usr/bin/env mynode", "#! /usr/bin/env -S mynode -x", "#!/bin/env A=1 mynode"])
def test_an_interpreter_is_not_looked_for_in_the_project_either(tmp_path: Path, line: str) -> None:
    work = tmp_path / "work"
    program(tmp_path / "yours", "claude-agent-acp", line)
    evil = program(work / "bin", "mynode")
    env = {"HOME": str(tmp_path), "PATH": f"{work}/bin:{tmp_path}/yours"}
    writable = writable_folders(CLOSED, work, env)
    with pytest.raises(ConfigError, match=f"is run by mynode, which is only at {evil}, where turns may write"):
        definition_of("claude", config(), env, writable)
    program(tmp_path / "node", "mynode")
    after = {**env, "PATH": f"{env['PATH']}:{tmp_path}/node"}
    definition = definition_of("claude", config(), after, writable)
    for confine, path in (
        ("none", f"{tmp_path}/yours:{tmp_path}/node"),
        ("workspace", f"{tmp_path}/yours:{tmp_path}/node:{work}/bin"),
    ):
        settings = Settings(model="", cwd=work, sandbox=CLOSED, agent="claude")
        made = config(agents={"claude": {"confine": confine}})
        definition = definition_of("claude", made, after, writable)
        assert variables_of(definition, settings, made, after)["PATH"] == path


@on_linux
@pytest.mark.parametrize("policy", [CLOSED, DangerFullAccess(), WorkspaceWrite()])
def test_a_program_that_a_command_wrote_into_the_project_is_never_run_as_the_agent(
    tmp_path: Path, policy: SandboxPolicy
) -> None:
    marker = tmp_path / "ran"
    with engine(
        tmp_path, "myagent", {"HOME": str(tmp_path), "PATH": f"{tmp_path}/work/bin:/usr/bin:/bin"}
    ) as harness:
        project = harness.workspace
        program(project / "bin", "myagent", f"#!/bin/sh\necho ran > {marker}")
        harness.engine.environments.remember(  # the client's
            (talk := harness.talk(agent="mine", sandbox=policy)).conversation,
            {"HOME": str(tmp_path), "PATH": f"{project}/bin:/usr/bin:/bin"},
        )
        said = str(talk.result(talk.start("say hello")).message)
        assert "where turns may write, so it is not started; install it elsewhere" in said
        assert not marker.exists()
