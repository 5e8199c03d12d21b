"""The table of the conversation methods: each with its params and its handler."""

from collections.abc import Mapping

from transports.dialects.codex import conversations, listeners, machine, params, stored
from transports.dialects.codex.conversations import CodexCall
from transports.dialects.kit.methods import Method, always_urgent, method

METHODS: Mapping[str, Method[CodexCall]] = {
    "newConversation": method(params.NewConversationParams, conversations.new_conversation),
    "sendUserMessage": method(params.SendUserMessageParams, conversations.send_user_message),
    "sendUserTurn": method(params.SendUserTurnParams, conversations.send_user_turn),
    "interruptConversation": method(
        params.CodexConversationParams, conversations.interrupt_conversation, urgent=always_urgent
    ),
    "addConversationListener": method(params.CodexConversationParams, listeners.add_listener),
    "removeConversationListener": method(
        params.RemoveListenerParams, listeners.remove_listener, urgent=always_urgent
    ),
    "listConversations": method(params.CodexListConversationsParams, stored.list_conversations),
    "resumeConversation": method(params.ResumeConversationParams, stored.resume),
    "archiveConversation": method(params.ArchiveConversationParams, stored.archive),
    "gitDiffToRemote": method(params.GitDiffToRemoteParams, machine.git_diff_to_remote),
    "fuzzyFileSearch": method(params.FuzzyFileSearchParams, machine.fuzzy_file_search),
    "getUserSavedConfig": method(params.EmptyCodexParams, machine.get_user_saved_config),
    "execOneOffCommand": method(params.ExecOneOffCommandParams, machine.exec_one_off_command),
    "getConfigToml": method(params.EmptyCodexParams, machine.get_user_saved_config),
    "setDefaultModel": method(params.IgnoredCodexParams, machine.set_default_model),
    "getUserAgent": method(params.EmptyCodexParams, machine.get_user_agent),
    "getAuthStatus": method(params.AuthStatusParams, machine.get_auth_status),
    "loginApiKey": method(params.IgnoredCodexParams, machine.no_login),
    "loginChatGpt": method(params.IgnoredCodexParams, machine.no_login),
    "cancelLoginChatGpt": method(params.IgnoredCodexParams, machine.no_login),
    "logoutChatGpt": method(params.IgnoredCodexParams, machine.no_login),
}
