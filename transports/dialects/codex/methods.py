"""The table of the conversation methods: each one's params and handler."""

from collections.abc import Mapping

from transports.dialects.codex import conversations, listeners, machine, params, stored
from transports.dialects.mcp.method import Method, always

METHODS: Mapping[str, Method] = {
    "newConversation": Method(params.NewConversation, conversations.new_conversation),
    "sendUserMessage": Method(params.SendUserMessage, conversations.send_user_message),
    "sendUserTurn": Method(params.SendUserTurn, conversations.send_user_turn),
    "interruptConversation": Method(params.Named, conversations.interrupt_conversation, urgent=always),
    "addConversationListener": Method(params.Named, listeners.add_listener),
    "removeConversationListener": Method(params.RemoveListener, listeners.remove_listener, urgent=always),
    "listConversations": Method(params.ListConversations, stored.list_conversations),
    "resumeConversation": Method(params.ResumeConversation, stored.resume),
    "archiveConversation": Method(params.ArchiveConversation, stored.archive),
    "gitDiffToRemote": Method(params.GitDiffToRemote, machine.git_diff_to_remote),
    "fuzzyFileSearch": Method(params.FuzzyFileSearch, machine.fuzzy_file_search),
    "getUserSavedConfig": Method(params.Nothing, machine.get_user_saved_config),
    "execOneOffCommand": Method(params.ExecOneOffCommand, machine.exec_one_off_command),
    "getConfigToml": Method(params.Nothing, machine.get_user_saved_config),
    "setDefaultModel": Method(params.Anything, machine.set_default_model),
    "getUserAgent": Method(params.Nothing, machine.get_user_agent),
    "getAuthStatus": Method(params.AuthStatus, machine.get_auth_status),
    "loginApiKey": Method(params.Anything, machine.no_login),
    "loginChatGpt": Method(params.Anything, machine.no_login),
    "cancelLoginChatGpt": Method(params.Anything, machine.no_login),
    "logoutChatGpt": Method(params.Anything, machine.no_login),
}
