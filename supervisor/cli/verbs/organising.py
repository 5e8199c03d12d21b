"""The verbs that keep conversations in order: costs, settings, names, copies. Data only."""

from supervisor.cli.verbs.options import CD, CONVERSATION, CONVERSATIONS, JSON, LISTING, NEW_VALUES
from supervisor.cli.verbs.verb_description import Arg, Opt, Verb

ORGANISING = (
    Verb(
        "usage",
        "spending:usage",
        "print what was spent, by day, model, directory or conversation",
        "greenroom usage --by model --since 7d",
        opts=(
            Opt(
                ("--by",),
                "The groups of the sums.",
                "GROUP",
                choices=("day", "model", "directory", "conversation"),
                default="day",
            ),
            Opt(("--since",), "From the day of this time on (7d, 2026-01-31).", "T"),
            Opt(("-n", "--count"), "How many to show. Default: 100.", "ROWS"),
            *LISTING,
        ),
        about="Sums of deleted conversations stay, but not under their ids. A price that is not known is a ?;\n"
        "[greenroom.prices] in the configuration gives it.",
    ),
    Verb(
        "budget",
        "spending:budget",
        "print budgets, and raise them",
        "greenroom budget @last --raise requests=+50",
        args=(
            Arg(
                "conversation",
                "Id, unique prefix, name, @last or @here. Default: the budgets of the day and of the home.",
                "?",
                "conversation",
            ),
        ),
        opts=(
            Opt(
                ("--raise",),
                "A new limit: UNIT=NUMBER or turn.UNIT=NUMBER for a conversation, day.UNIT=NUMBER or "
                "home.UNIT=NUMBER for all of them; =+NUMBER for so much more than now.",
                "LIMIT",
                many=True,
                dest="raised",
            ),
            Opt(("--reset",), "Return to the limit of the configuration.", "UNIT", many=True),
            *LISTING,
        ),
        about="Units are requests, tool_calls, minutes, tokens and usd. After a raise the next message goes on,\n"
        "and `greenroom queue CONVERSATION go` lets go what is held. A raise of day.UNIT counts\n"
        "today, one of home.UNIT until --reset.",
    ),
    Verb(
        "worktree",
        "worktree:run",
        "list the worktrees of conversations, merge and remove them",
        "greenroom worktree merge fix-login",
        args=(
            Arg(
                "what",
                "list: all of them. merge: its branch into what is checked out in the repository. remove: the "
                "directory, and the branch if it is merged.",
                "?",
                choices=("list", "merge", "remove"),
            ),
            Arg("worktree", "Its name, or a conversation that works in it.", "?", "worktree"),
        ),
        opts=LISTING,
        about="`greenroom run --worktree` makes them. None is removed that has uncommitted changes, and a merge that "
        "fails leaves everything as it was.",
    ),
    Verb(
        "set",
        "setting:run",
        "change the settings of a conversation, also while a turn runs",
        "greenroom set @last model=gpt-5-mini sandbox=read-only",
        args=(
            CONVERSATION,
            Arg(
                "settings",
                "What to change: model, provider, profile, effort, approval, sandbox, writable_roots, agent or name. "
                "KEY= returns to what the config says.",
                "+",
                "setting",
            ),
        ),
        opts=(JSON,),
        about="All of it is changed, or nothing. It counts from the next request to the model on; approvals and the "
        "sandbox from the next command on.",
    ),
    Verb(
        "rename",
        "stored_conversations:rename",
        "name a conversation, or remove its name with ''",
        "greenroom rename @last billing",
        args=(CONVERSATION, Arg("name", "The new name; '' removes it.")),
    ),
    Verb(
        "fork",
        "stored_conversations:fork",
        "start a new conversation with the history of another",
        "greenroom fork @last --name experiment",
        args=(CONVERSATION,),
        opts=(
            Opt(("--at",), "Copy the history up to this seq. Default: all of it.", "SEQ"),
            Opt(("--name",), "Name of the new conversation.", "NAME"),
            *NEW_VALUES,
            JSON,
        ),
    ),
    Verb(
        "archive",
        "stored_conversations:archive",
        "archive conversations: hide them from lists",
        "greenroom archive billing",
        args=(CONVERSATIONS,),
        opts=(Opt(("--undo",), "Unarchive them: show them in lists again."),),
    ),
    Verb(
        "rm",
        "stored_conversations:remove",
        "delete conversations for good",
        "greenroom rm billing",
        args=(CONVERSATIONS,),
        opts=(Opt(("-f", "--force"), "Don't ask for confirmation."),),
        about="Asks for confirmation on a terminal; elsewhere it needs --force.",
    ),
    Verb(
        "export",
        "stored_conversations:export",
        "write a conversation's history as JSON lines",
        "greenroom export billing billing.jsonl",
        args=(CONVERSATION, Arg("file", "File to write. Default: standard output.", "?", "file")),
    ),
    Verb(
        "import",
        "stored_conversations:import_",
        "create a conversation from a file written by `export`",
        "greenroom import billing.jsonl",
        args=(Arg("file", "File to read; - is standard input.", kind="file"),),
        opts=(
            Opt(("--new-id",), "Use a new id; needed if the conversation still exists."),
            CD,
            JSON,
        ),
        about="The conversation is run by your settings of today, like a new one. Where its file asked for others, "
        "that is told, with the command that takes them.",
    ),
)
