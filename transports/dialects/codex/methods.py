"""The table of the conversation methods: each with its params and its handler."""

from collections.abc import Mapping

from transports.dialects.codex import conversations, listeners, machine, params, stored
from transports.dialects.codex.conversations import CodexCall
from transports.dialects.kit.methods import Method, always, method

METHODS: Mapping[str, Method[CodexCall]] = {
    "newConversation": method(params.NewConversation, conversations.new_conversation),
    "sendUserMessage": method(params.SendUserMessage, conversations.send_user_message),
    "sendUserTurn": method(params.SendUserTurn, conversations.send_user_turn),
    "interruptConversation": method(params.Named, conversations.interrupt_conversation, urgent=always),
    "addConversationListener": method(params.Named, listeners.add_listener),
    "removeConversationListener": method(params.RemoveListener, listeners.remove_listener, urgent=always),
    "listConversations": method(params.ListConversations, stored.list_conversations),
    "resumeConversation": method(params.ResumeConversation, stored.resume),
    "archiveConversation": method(params.ArchiveConversation, stored.archive),
    "gitDiffToRemote": method(params.GitDiffToRemote, machine.git_diff_to_remote),
    "fuzzyFileSearch": method(params.FuzzyFileSearch, machine.fuzzy_file_search),
    "getUserSavedConfig": method(params.Nothing, machine.get_user_saved_config),
    "execOneOffCommand": method(params.ExecOneOffCommand, machine.exec_one_off_command),
    "getConfigToml": method(params.Nothing, machine.get_user_saved_config),
    "setDefaultModel": method(params.Anything, machine.set_default_model),
    "getUserAgent": method(params.Nothing, machine.get_user_agent),
    "getAuthStatus": method(params.AuthStatus, machine.get_auth_status),
    "loginApiKey": method(params.Anything, machine.no_login),
    "loginChatGpt": method(params.Anything, machine.no_login),
    "cancelLoginChatGpt": method(params.Anything, machine.no_login),
    "logoutChatGpt": method(params.Anything, machine.no_login),
}
