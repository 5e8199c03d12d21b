"""The verbs about turns: interrupts, messages that wait, jobs, approvals. Data only."""

from supervisor.cli.verbs.options import (
    ANY_CONVERSATIONS,
    APPROVAL,
    CONVERSATION,
    CONVERSATIONS,
    JSON,
    LISTING,
    REASON,
    TIMEOUT,
)
from supervisor.cli.verbs.verb_description import Arg, Opt, Verb

TURNS = (
    Verb(
        "interrupt",
        "interrupt:run",
        "stop the running turn; the conversation is kept",
        "greenroom interrupt @last --wait 5s",
        args=(ANY_CONVERSATIONS._replace(help="Ids, unique prefixes, names, @last or @here."),),
        opts=(
            Opt(("--all",), "Interrupt every conversation with a running turn."),
            Opt(
                ("--wait",), "How long to wait for the turn to end; exit code 124 after that.", "TIME", default="30s"
            ),
            Opt(("--kill",), "Kill its commands at once."),
            Opt(("--clear",), "Also drop the messages that wait for a turn."),
            REASON,
            JSON,
        ),
        aliases=("stop",),
        about="What waits is held until `greenroom queue CONVERSATION go`. The next message goes first, alone.\n"
        "A second interrupt kills commands at once.",
    ),
    Verb(
        "queue",
        "queue:run",
        "list the messages that wait; edit, move or drop them, or let them go on",
        "greenroom queue @last move 3f2a81c0 --first",
        args=(
            CONVERSATION,
            Arg(
                "what",
                "list: the messages in their order. edit: give one other words. move: give it another place. drop: "
                "withdraw it. go: let them run that an interrupt holds.",
                "?",
                choices=("list", "edit", "move", "drop", "go"),
            ),
            Arg("input", "A message's id, or the beginning of it.", "?", "input"),
            Arg("prompt", "For edit: the new words; - reads them from standard input.", "?"),
        ),
        opts=(
            Opt(("--first",), "For move: before all others that wait in the same way."),
            Opt(("--last",), "For move: behind them."),
            Opt(("--before",), "For move: before this message.", "ID", kind="input"),
            Opt(("--all",), "For drop: everything that waits."),
            REASON,
            *LISTING,
        ),
        about="Messages wait if they were sent with `--if-busy enqueue`, or as long as the turn has not taken them.\n"
        "After an interrupt they are held until `go`; a message that is sent meanwhile goes first, alone. Messages\n"
        "that join the running turn and those that get a turn of their own have no order among each other.",
    ),
    Verb(
        "jobs",
        "jobs:run",
        "see to commands that run in the background",
        "greenroom jobs read 3f2a --follow",
        args=(
            Arg(
                "what",
                "list: all of them. read: print its output. write: write to it. wait: until it ends. end: end it.",
                "?",
                choices=("list", "read", "write", "wait", "end"),
            ),
            Arg("job", "A job's id, or the beginning of it.", "?", "job"),
            Arg("text", "For write: a line; - reads standard input.", "?"),
        ),
        opts=(
            Opt(
                ("--conversation",), "For list: only those of this conversation.", "CONVERSATION", kind="conversation"
            ),
            Opt(("-f", "--follow"), "For read: go on until it ends."),
            Opt(("--end-input",), "For write: close its input afterwards."),
            TIMEOUT,
            *LISTING,
        ),
        about="A model starts them, for as long as its turn, or, where you want to keep a server, for as long as it\n"
        "runs. All of them end with the daemon. `wait` exits with 1 if the command failed.",
    ),
    Verb(
        "wait",
        "waiting:run",
        "wait until turns have ended, or ask for an approval",
        "greenroom wait @last --for done -t 10m",
        args=(CONVERSATIONS,),
        opts=(
            Opt(
                ("--for",),
                "idle: no turn runs. done: the same, and the exit code says how it ended. approval: an approval "
                "is open; exit code 1 if the turn ends without one.",
                "WHAT",
                choices=("idle", "done", "approval"),
                default="done",
                dest="until",
            ),
            TIMEOUT,
            JSON,
        ),
    ),
    Verb(
        "approvals",
        "approvals:listing",
        "list open approvals, oldest first",
        "greenroom approvals --watch",
        args=(
            Arg(
                "approval",
                "An approval's id or unique prefix, to see all of it; or a conversation. Default: all.",
                "?",
                "approval",
            ),
        ),
        opts=LISTING,
    ),
    Verb(
        "approve",
        "approvals:approve",
        "answer an approval with yes",
        "greenroom approve 3f2a --for conversation",
        args=(APPROVAL,),
        about="A form of an MCP server is filled in by name=value behind the approval; what is left out is sent with "
        "its default.",
        opts=(
            Opt(
                ("--option",),
                "Of the options that an agent offers, this one, by its id or its name; one may be a rule of its own.",
                "NAME_OR_ID",
            ),
            Opt(("--outside",), "Outside the sandbox, where a yes alone means inside."),
            Opt(
                ("--for",),
                "once: this time only. conversation: also the same later in this conversation; Greenroom keeps it, "
                "and no agent is told.",
                "HOW_LONG",
                choices=("once", "conversation"),
                default="once",
                dest="span",
            ),
            JSON,
        ),
    ),
    Verb(
        "deny",
        "approvals:deny",
        "answer an approval with no",
        "greenroom deny 3f2a --reason 'not on main'",
        args=(APPROVAL,),
        about="`greenroom deny 3f2a because it is not on main` gives the reason as well. Any other word that names "
        "no approval is refused, and nothing is answered.",
        opts=(
            Opt(("--reason",), "The reason; the model reads it.", "TEXT"),
            Opt(("--abort",), "End the turn as well."),
            Opt(("--option",), "Of the options that an agent offers, this one, by its id or its name.", "NAME_OR_ID"),
            JSON,
        ),
    ),
    Verb(
        "restart",
        "stored_conversations:restart",
        "go on with a conversation that has failed",
        "greenroom restart @last",
        args=(CONVERSATION,),
        about="After a turn that ended in an error, earlier pictures are no longer sent to the model.",
    ),
)
