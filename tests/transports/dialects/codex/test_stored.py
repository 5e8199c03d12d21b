"""Earlier conversations, and methods that are about none."""

import pytest
from msgspec import convert

from actors.vocabulary.errors import ConfigError, InvalidInput, NotAllowed
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.settings import ApprovalPolicy
from tests.transports.dialects.mcp.daemon import Daemon
from tests.transports.dialects.mcp.peer import McpClient
from tests.transports.dialects.mcp.steps import created, finished, nothing_open
from transports import supervisor_requests as ask
from transports.dialects.codex.machine import saved_config
from transports.supervisor_answers import ConfigValue, FoundFiles, ProviderKey, RemoteDiff, SingleCommandResult


def path(conversation: str) -> str:
    return f"greenroom://conversation/{conversation}"


def three(daemon: Daemon, client: McpClient) -> list[ConversationId]:
    """Three conversations, oldest first, made a second apart."""
    made = []
    for _ in range(3):
        made.append(created(client))
        daemon.clock.time += 1
    return made


def test_lists_are_newest_first_and_a_page_names_its_end_if_another_follows() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    oldest, middle, newest = three(daemon, client)
    first = client.ask("listConversations", {"pageSize": 2})["result"]
    assert [one["path"] for one in first["items"]] == [path(newest), path(middle)]
    second = client.ask("listConversations", {"pageSize": 2, "cursor": first["nextCursor"]})["result"]
    assert [one["path"] for one in second["items"]] == [path(oldest)]
    assert "nextCursor" not in second
    assert client.ask("listConversations", {"pageSize": 0})["result"] == {"items": []}
    assert len(client.ask("listConversations", {"cursor": "nonsense"})["result"]["items"]) == 3


def test_a_resumed_conversation_goes_on_under_its_own_id_and_tells_what_was() -> None:
    daemon = Daemon()
    conversation = finished(daemon, McpClient(daemon, "a"))
    client = McpClient(daemon, "b")
    request = client.begin("resumeConversation", {"path": path(conversation), "overrides": {"model": "o9"}})
    configured = {
        "type": "session_configured",
        "session_id": conversation,
        "model": "o9",
        "history_log_id": 0,
        "history_entry_count": 0,
    }
    assert client.told("codex/event") == [{"id": "", "msg": configured}]
    assert client.methods()[-2:] == ["codex/event", f"={request}"]
    assert client.answer(request)["result"] == {
        "conversationId": conversation,
        "model": "o9",
        "rolloutPath": path(conversation),
        "initialMessages": [
            {"type": "task_started"},
            {"type": "task_complete", "last_agent_message": "Done"},
            {"type": "background_event", "message": "settings: model is o9 now (tester[4711])"},
        ],
    }
    settings = daemon.state(conversation).facts.settings
    assert (settings.model, str(settings.cwd)) == ("o9", "/w")


def test_overrides_change_what_they_name_and_nothing_else() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = created(client)
    client.ask("resumeConversation", {"path": path(conversation), "overrides": {"cwd": "/other"}})
    settings = daemon.state(conversation).facts.settings
    assert (settings.model, str(settings.cwd), settings.approval_policy) == ("o3", "/other", "untrusted")


@pytest.mark.parametrize("where", ["/home/x/rollout.jsonl", path("01234567-0123-4123-8123-0123456789ab")])
def test_a_conversation_that_cannot_be_resumed_is_refused_with_the_reason(where: str) -> None:
    error = McpClient(Daemon()).ask("resumeConversation", {"path": where})["error"]
    assert error["code"] == -32603
    assert error["message"].startswith("error resuming conversation: ")


def test_an_archived_conversation_is_in_no_list() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = created(client)
    params = {"conversationId": conversation, "rolloutPath": path(conversation)}
    assert client.ask("archiveConversation", params)["result"] == {}
    assert client.ask("listConversations", {})["result"] == {"items": []}
    assert nothing_open(client)


def test_an_archive_names_its_conversation_twice_and_alike() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    one, other = created(client), created(client)
    wrong = client.ask("archiveConversation", {"conversationId": one, "rolloutPath": path(other)})["error"]
    assert wrong["message"] == f"rollout path `{path(other)}` does not match conversation id {one}"
    outside = client.ask("archiveConversation", {"conversationId": one, "rolloutPath": "/tmp/x"})["error"]
    assert outside == {"code": -32600, "message": "rollout path `/tmp/x` must be in sessions directory"}


def served(daemon: Daemon, kind: type, value: object) -> None:
    daemon.serve[kind] = lambda _: value


def test_a_command_of_its_own_is_run_by_the_supervisor() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    served(daemon, ask.RunOnce, SingleCommandResult(0, "a", ""))
    params = {"command": ["ls"], "timeoutMs": 500, "cwd": "/w", "sandboxPolicy": {"mode": "read-only"}}
    assert client.ask("execOneOffCommand", params)["result"] == {"exitCode": 0, "stdout": "a", "stderr": ""}
    (request,) = [one for one in daemon.asked if isinstance(one, ask.RunOnce)]
    assert (request.command, request.timeout_ms, request.cwd) == (("ls",), 500, "/w")
    assert client.ask("execOneOffCommand", {"command": []})["error"]["message"] == "command must not be empty"
    served(daemon, ask.RunOnce, InvalidInput("no"))
    assert client.ask("execOneOffCommand", params)["error"] == {"code": -32603, "message": "exec failed: no"}


def test_a_diff_to_the_remote_is_made_by_the_supervisor() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    served(daemon, ask.DiffToRemote, RemoteDiff("abc", ""))
    assert client.ask("gitDiffToRemote", {"cwd": "/w"})["result"] == {"sha": "abc", "diff": ""}
    served(daemon, ask.DiffToRemote, InvalidInput("no"))
    error = client.ask("gitDiffToRemote", {"cwd": "/w"})["error"]
    assert error == {"code": -32600, "message": 'failed to compute git diff to remote for cwd: "/w"'}


def test_files_are_searched_by_the_supervisor() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    files = [{"root": "/w", "path": "a/b", "file_name": "b", "score": 26, "indices": [2]}]
    served(daemon, ask.FindFiles, convert({"files": files}, FoundFiles))
    params = {"query": "b", "roots": ["/w"], "cancellationToken": "one"}
    assert client.ask("fuzzyFileSearch", params)["result"] == {"files": files}
    assert client.ask("fuzzyFileSearch", {"query": "b"})["error"]["code"] == -32602
    served(daemon, ask.FindFiles, InvalidInput("no"))
    assert client.ask("fuzzyFileSearch", params)["error"]["message"] == "the search failed: no"


def test_the_saved_config_has_the_names_of_this_wire() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    tree = {
        "model": "m",
        "approval_policy": "never",
        "model_verbosity": "low",
        "tools": {"web_search": True, "other": 1},
        "sandbox_workspace_write": {"writable_roots": ["/a"], "network_access": True},
        "profiles": {"p": {"model": "n", "chatgpt_base_url": 5}},
    }
    served(daemon, ask.ReadSavedConfig, ConfigValue(tree, "/x"))
    assert client.ask("getUserSavedConfig")["result"] == {
        "config": {
            "approvalPolicy": "never",
            "model": "m",
            "modelVerbosity": "low",
            "tools": {"webSearch": True},
            "sandboxSettings": {"writableRoots": ["/a"], "networkAccess": True},
            "profiles": {"p": {"model": "n"}},
        }
    }
    assert saved_config({}) == {"profiles": {}}
    assert saved_config({"sandbox_workspace_write": {}, "tools": 5, "profiles": 5}) == {
        "sandboxSettings": {"writableRoots": []},
        "tools": {},
        "profiles": {},
    }


def test_a_config_that_cannot_be_read_is_an_error_that_says_why() -> None:
    daemon = Daemon()
    served(daemon, ask.ReadSavedConfig, ConfigError("config.toml:1: not TOML"))
    error = McpClient(daemon).ask("getUserSavedConfig")["error"]
    assert error == {"code": -32603, "message": "failed to load config.toml: config.toml:1: not TOML"}


@pytest.mark.parametrize(("key", "method"), [(True, "apikey"), (False, None)])
def test_whether_there_is_a_key_is_told_and_never_the_key(key: bool, method: str | None) -> None:
    daemon = Daemon()
    served(daemon, ask.AskKey, ProviderKey(key, openai=True))
    assert McpClient(daemon).ask("getAuthStatus", {"includeToken": True, "refreshToken": True})["result"] == {
        "authMethod": method,
        "preferredAuthMethod": "apikey",
        "authToken": None,
        "requiresOpenaiAuth": True,
    }


def test_the_user_agent_names_the_program_and_the_client() -> None:
    result = McpClient(Daemon(), version="1.2.3").ask("getUserAgent")["result"]
    assert result["userAgent"].startswith("codex-mcp-server/1.2.3 (Greenroom 1.2.3; ")


def test_the_config_file_is_a_persons_to_write() -> None:
    error = McpClient(Daemon()).ask("setDefaultModel", {"model": "o9", "reasoningEffort": "low"})["error"]
    assert error["code"] == -32600
    assert "greenroom config path" in error["message"]


def test_the_older_name_of_the_saved_config_is_understood() -> None:
    daemon = Daemon()
    served(daemon, ask.ReadSavedConfig, ConfigValue({"model": "m"}, "/x"))
    assert McpClient(daemon).ask("getConfigToml")["result"] == {"config": {"model": "m", "profiles": {}}}


def test_a_new_conversation_is_told_the_path_that_archiving_wants() -> None:
    client = McpClient(Daemon())
    made = client.ask("newConversation", {"model": "m"})["result"]
    assert made["rolloutPath"] == path(made["conversationId"])
    wish = {"conversationId": made["conversationId"], "rolloutPath": made["rolloutPath"]}
    assert client.ask("archiveConversation", wish)["result"] == {}


@pytest.mark.parametrize("method", ["loginApiKey", "loginChatGpt", "cancelLoginChatGpt", "logoutChatGpt"])
def test_there_is_no_login_and_it_is_said_where_keys_come_from(method: str) -> None:
    error = McpClient(Daemon()).ask(method)["error"]
    assert error["code"] == -32600
    assert "env_key" in error["message"]


def test_the_whole_settings_of_a_resumed_conversation_must_be_permitted() -> None:
    """A conversation without a sandbox that asks about everything must not be resumed so that it stops asking."""
    daemon = Daemon()
    conversation = finished(daemon, McpClient(daemon, "a"))
    asked: list[ask.PermitSettings] = []

    def refuse(wanted: ask.PermitSettings) -> None:
        asked.append(wanted)
        raise NotAllowed("too far")

    daemon.serve[ask.PermitSettings] = refuse
    before = daemon.state(conversation).facts.settings
    wish = {"path": path(conversation), "overrides": {"approvalPolicy": "never"}}
    error = McpClient(daemon, "b").ask("resumeConversation", wish)["error"]
    assert error == {"code": -32600, "message": "error deriving config: too far"}
    assert asked[0].settings == before.model_copy(update={"approval_policy": ApprovalPolicy.NEVER})
    assert asked[0].current == before == daemon.state(conversation).facts.settings
