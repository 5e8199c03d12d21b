"""All verbs, in groups as help shows them. Data only: a verb's module is imported when it is asked for."""

from supervisor.cli.shapes import Arg, Opt, Verb

CONVERSATION = Arg("conversation", "Id, unique prefix, name, @last or @here.", kind="conversation")
CONVERSATIONS = Arg("conversation", "Ids, unique prefixes, names, @last or @here.", "+", "conversation")
ANY = Arg(
    "conversation", "Ids, unique prefixes, names, @last or @here. Default: all conversations.", "*", "conversation"
)

APPROVAL = Arg(
    "approval", "An approval's id or unique prefix, or a conversation with one open approval.", "+", "approval"
)

JSON = Opt(("--json",), "Print one JSON object.")
STREAM = Opt(("--json",), "Print JSON lines; each has seq, ts, conversation and type.")
LISTING = (
    Opt(("--json",), "Print a JSON array with these fields, or with all fields.", "FIELDS", bare="", kind="fields"),
    Opt(
        ("--format",),
        "Print a line for each row, with {field} filled in; write \\t for a tab, \\n for a new line.",
        "TEMPLATE",
    ),
    Opt(("-q", "--quiet"), "Print ids only, one per line."),
    Opt(("-w", "--watch"), "Print again on every change, until Ctrl-C."),
)
TIMEOUT = Opt(("-t", "--timeout"), "Give up after this time (30s, 5m), with exit code 124.", "TIME")
REASON = Opt(("--reason",), "The reason, kept in the history.", "TEXT")
APPROVALS = ("untrusted", "on-failure", "on-request", "never")
SANDBOXES = ("read-only", "workspace-write", "danger-full-access")
SETTINGS = (
    Opt(("-C", "--cd"), "Working directory. Default: the current directory.", "DIR", kind="directory", dest="cwd"),
    Opt(("-m", "--model"), "Model. Default: from the config.", "MODEL"),
    Opt(("--profile",), "Profile of the config to use.", "NAME"),
    Opt(("--approval",), "When to ask for an approval.", "POLICY", choices=APPROVALS),
    Opt(("--sandbox",), "What commands may read and write.", "MODE", choices=SANDBOXES),
    Opt(("-c", "--config"), "Override a key of the config.", "KEY=VALUE", many=True, dest="config"),
)

DAEMON = (
    Verb(
        "up",
        "starting:up",
        "start the daemon and wait until it answers",
        "greenroom up",
        opts=(
            Opt(("--foreground",), "Run in the foreground and log to the terminal."),
            Opt(("--config",), "Config file to use instead of the default one.", "FILE", kind="file"),
            Opt(("-c",), "Override a key of the config.", "KEY=VALUE", many=True, dest="overrides"),
            Opt(("--profile",), "Profile of the config to use.", "NAME"),
            Opt(("--force",), "If the running daemon does not answer, end it and start another."),
            JSON,
        ),
        about="Succeeds if the daemon already runs. --force waits first, and says which process it will\n"
        "end and what is lost. It ends only the daemon of this home, and only if that does not answer.",
    ),
    Verb(
        "down",
        "starting:down",
        "stop the daemon; conversations are kept",
        "greenroom down --drain 30s",
        opts=(
            Opt(("--drain",), "How long running turns may continue. Default: from the config.", "TIME"),
            Opt(("--now",), "Interrupt running turns at once; end a daemon that does not answer."),
        ),
        aliases=("shutdown",),
        about="Waits until its socket is gone. Succeeds if no daemon runs.",
    ),
    Verb(
        "status",
        "status:run",
        "show the daemon and its conversations, or one in detail",
        "greenroom status --check",
        args=(ANY,),
        opts=(Opt(("--check",), "Exit with 3 if one of these conversations has failed."), *LISTING),
    ),
    Verb(
        "doctor",
        "doctor:run",
        "check the installation and suggest repairs",
        "greenroom doctor",
        opts=(Opt(("--json",), "Print a JSON array of the findings."),),
    ),
    Verb("pid", "facts:pid", "print the daemon's process id", "kill -USR1 $(greenroom pid)"),
    Verb("socket", "facts:socket", "print the path of the daemon's socket", "greenroom socket"),
    Verb(
        "version",
        "facts:version",
        "print the version of this program and of the daemon",
        "greenroom version",
        opts=(JSON,),
    ),
    Verb("df", "facts:df", "show the disk space that Greenroom uses", "greenroom df", opts=LISTING),
    Verb(
        "reload",
        "config:reload",
        "make the daemon read its config again; print what changed",
        "greenroom reload",
        opts=(JSON,),
    ),
    Verb(
        "config",
        "config:run",
        "show or check the configuration",
        "greenroom config get greenroom.drain_seconds",
        args=(
            Arg(
                "what",
                "get: print the config in force. path: print its file. check: look for errors.",
                choices=("get", "path", "check"),
            ),
            Arg("key", "For get: a dotted key. Default: all keys.", "?"),
        ),
        opts=(JSON,),
        about="`get` asks the daemon; `path` and `check` read the file and need no daemon.",
    ),
    Verb(
        "service",
        "service:run",
        "let systemd or launchd keep the daemon running",
        "greenroom service install --print",
        args=(Arg("what", "The action.", choices=("install", "uninstall", "status")),),
        opts=(
            Opt(("--print",), "Print the service file instead of installing it."),
            Opt(("--no-start",), "Write the service file, but don't start the service."),
        ),
    ),
)
IN_CONVERSATION = (
    Verb(
        "run",
        "running:run",
        "start a conversation with a prompt and watch the turn",
        "greenroom run -C ~/src/shop 'why does the test fail?'",
        args=(Arg("prompt", "The message; - reads it from standard input."),),
        opts=(
            Opt(("--name",), "Name of the conversation.", "NAME"),
            *SETTINGS,
            Opt(("-d", "--detach"), "Print the id and return; the turn continues."),
            STREAM,
        ),
        about="Starts the daemon if none runs. The exit code says how the turn ended.",
    ),
    Verb(
        "send",
        "running:send",
        "send a message to a conversation",
        "greenroom send @last 'now run the tests' --wait",
        args=(CONVERSATION, Arg("prompt", "The message; - reads it from standard input.")),
        opts=(
            Opt(
                ("--if-busy",),
                "If a turn runs: join it (steer), wait for a turn of its own (enqueue), "
                "fail (reject) or replace it (interrupt).",
                "POLICY",
                choices=("steer", "enqueue", "reject", "interrupt"),
                default="steer",
            ),
            Opt(("--wait",), "Watch the turn; the exit code says how it ended."),
            Opt(
                ("--key",), "Idempotency key, kept for a day: a second message with the same key is not sent.", "KEY"
            ),
            TIMEOUT,
            STREAM,
        ),
    ),
    Verb(
        "attach",
        "attach:run",
        "watch a conversation live, answer approvals, send messages",
        "greenroom attach @last",
        args=(CONVERSATION,),
        opts=(
            Opt(("--ro",), "Watch only; send and answer nothing."),
            Opt(
                ("--from",),
                "Begin after this seq, with `all` or with `now`. Default: the last turn.",
                "SEQ",
                dest="since",
            ),
            STREAM,
        ),
        aliases=("fg",),
        about="Ctrl-C interrupts the turn, after asking you. Ctrl-D or Ctrl-\\ leaves; the conversation continues.",
    ),
    Verb(
        "ls",
        "ls:run",
        "list conversations",
        "greenroom ls --filter state=waiting --json id,name",
        opts=(
            Opt(("-a", "--all"), "Show all, archived conversations too."),
            Opt(("-n", "--count"), "How many to show. Default: a screen of them, or 100 in a pipe.", "ROWS"),
            Opt(("--filter",), "Only where state=…, cwd=… or name=…; repeat to combine.", "KEY=VALUE", many=True),
            Opt(
                ("--sort",), "Sort by this field; -FIELD sorts in reverse.", "FIELD", default="-updated", signed=True
            ),
            *LISTING,
        ),
        aliases=("ps",),
    ),
    Verb(
        "logs",
        "logs:run",
        "show the history of a conversation",
        "greenroom logs @last -f",
        args=(CONVERSATION,),
        opts=(
            Opt(("-f", "--follow"), "Keep printing new events."),
            Opt(("-n", "--lines"), "Print the last N events. Default: 100, or all with --since.", "N"),
            Opt(("--since",), "Print events after this seq or time (10m, 2h, 2026-01-31T12:00).", "T"),
            Opt(("--raw",), "Print everything, nothing shortened."),
            STREAM,
        ),
        aliases=("tail",),
    ),
    Verb(
        "search",
        "search:run",
        "find what was said in any conversation, newest first",
        "greenroom search 'flaky test' --since 7d",
        args=(Arg("words", 'Words that are all there, or "a phrase" in quotes, or the beginning of a word*.', "+"),),
        opts=(
            Opt(("--conversation",), "Only in this conversation.", "CONVERSATION", kind="conversation"),
            Opt(("--cwd",), "Only in conversations of this directory.", "DIR", kind="directory"),
            Opt(("--since",), "Only what happened since this time (10m, 2h, 2026-01-31T12:00).", "T"),
            Opt(("-n", "--count"), "Print at most N hits. Default: 20.", "HITS"),
            Opt(("--best",), "Print the hits that fit best first, at most 200."),
            Opt(("--json",), LISTING[0].help, "FIELDS", bare="", kind="fields search"),
            LISTING[1],
            Opt(("-q", "--quiet"), "Print ids of conversations only, one per line."),
        ),
        about="Searches what people and models said, commands and their output, and names. Capitals and accents\n"
        "make no difference. A shell takes quotes away, so write a phrase as '\"like this\"'.\n"
        "Exits with 1 if nothing was found.",
    ),
    Verb(
        "events",
        "events:run",
        "print the events of all conversations as JSON lines",
        "greenroom events --filter type=task_complete",
        args=(ANY,),
        opts=(
            Opt(("--since",), "Begin with events since this time (10m, 2h, 2026-01-31T12:00).", "T"),
            Opt(("--filter",), "Only events with type=…; separate several with commas.", "KEY=VALUE", many=True),
            Opt(("-n", "--count"), "Stop after N events.", "N"),
            TIMEOUT,
        ),
    ),
    Verb(
        "inspect",
        "keeping:inspect",
        "show everything about a conversation as JSON",
        "greenroom inspect @last --format '{state} {tokens}'",
        args=(CONVERSATION,),
        opts=(
            Opt(
                ("--format",), "Print a line with fields filled in, such as {state} or {settings.model}.", "TEMPLATE"
            ),
        ),
    ),
    Verb(
        "top",
        "top:run",
        "watch all conversations live",
        "greenroom top",
        about="Keys: i interrupt, a answer an approval, enter attach, q quit.",
    ),
)
TURNS = (
    Verb(
        "interrupt",
        "interrupt:run",
        "stop the running turn; the conversation is kept",
        "greenroom interrupt @last --wait 5s",
        args=(ANY._replace(help="Ids, unique prefixes, names, @last or @here."),),
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
        about="Queued messages wait until the next message is sent. A second interrupt kills commands at once.",
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
        opts=(
            Opt(
                ("--for",),
                "once: this time only. conversation: the same command from now on, in this conversation.",
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
        opts=(
            Opt(("--reason",), "The reason; the model reads it.", "TEXT"),
            Opt(("--abort",), "End the turn as well."),
            JSON,
        ),
    ),
    Verb(
        "restart",
        "keeping:restart",
        "go on with a conversation that has failed",
        "greenroom restart @last",
        args=(CONVERSATION,),
        about="After a turn that ended in an error, earlier pictures are no longer sent to the model.",
    ),
)
KEEPING = (
    Verb(
        "rename",
        "keeping:rename",
        "name a conversation, or remove its name with ''",
        "greenroom rename @last billing",
        args=(CONVERSATION, Arg("name", "The new name; '' removes it.")),
    ),
    Verb(
        "fork",
        "keeping:fork",
        "start a new conversation with the history of another",
        "greenroom fork @last --name experiment",
        args=(CONVERSATION,),
        opts=(
            Opt(("--at",), "Copy the history up to this seq. Default: all of it.", "SEQ"),
            Opt(("--name",), "Name of the new conversation.", "NAME"),
            JSON,
        ),
    ),
    Verb(
        "archive",
        "keeping:archive",
        "archive conversations: hide them from lists",
        "greenroom archive billing",
        args=(CONVERSATIONS,),
        opts=(Opt(("--undo",), "Unarchive them: show them in lists again."),),
    ),
    Verb(
        "rm",
        "keeping:remove",
        "delete conversations for good",
        "greenroom rm billing",
        args=(CONVERSATIONS,),
        opts=(Opt(("-f", "--force"), "Don't ask for confirmation."),),
        about="Asks for confirmation on a terminal; elsewhere it needs --force.",
    ),
    Verb(
        "export",
        "keeping:export",
        "write a conversation's history as JSON lines",
        "greenroom export billing billing.jsonl",
        args=(CONVERSATION, Arg("file", "File to write. Default: standard output.", "?", "file")),
    ),
    Verb(
        "import",
        "keeping:import_",
        "create a conversation from a file written by `export`",
        "greenroom import billing.jsonl",
        args=(Arg("file", "File to read; - is standard input.", kind="file"),),
        opts=(Opt(("--new-id",), "Use a new id; needed if the conversation still exists."), JSON),
    ),
)
AROUND = (
    Verb(
        "clients",
        "clients:run",
        "list connected clients and what they read",
        "greenroom clients",
        opts=(Opt(("--kill",), "Disconnect this client.", "ID"), *LISTING),
    ),
    Verb(
        "mcp",
        "mcp:run",
        "serve MCP over stdio; editors start this",
        "greenroom mcp --sandbox workspace-write",
        opts=(*SETTINGS, Opt(("--embedded",), "Run everything in this process, without a daemon.")),
        aliases=("mcp-server",),
        about="Starts the daemon if none runs. As with Codex, options may stand before the verb, "
        "and -p, -s, -a are --profile, --sandbox, --approval.",
    ),
    Verb(
        "completion",
        "completion:run",
        "print a completion script for your shell",
        'eval "$(greenroom completion bash)"',
        args=(Arg("shell", "The shell.", choices=("bash", "zsh", "fish")),),
    ),
    Verb(
        "demo",
        "demo:run",
        "take a tour with the built-in model: no key, no network",
        "greenroom demo",
    ),
    Verb(
        "help",
        "helping:run",
        "explain a verb or a topic",
        "greenroom help exit-codes",
        args=(Arg("topic", "A verb or a topic.", "?", "topic"),),
    ),
)
COMPLETE = Verb(
    "__complete",
    "completion:answer",
    "list possible next words, for the completion scripts",
    "greenroom __complete attach ''",
    args=(Arg("words", "The words so far, the last one unfinished.", "*"),),
)

GROUPS = {
    "Conversations": IN_CONVERSATION,
    "Turns and approvals": TURNS,
    "Organising": KEEPING,
    "The daemon": DAEMON,
    "Clients and help": AROUND,
}
VERBS = tuple(verb for verbs in GROUPS.values() for verb in verbs)


def find(name: str) -> Verb | None:
    return next((verb for verb in (*VERBS, COMPLETE) if name == verb.name or name in verb.aliases), None)
