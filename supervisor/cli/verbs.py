"""All verbs, in the order in which help shows them. Data only: a verb's module is imported when it is asked for."""

from supervisor.cli.shapes import Arg, Opt, Verb

CONVERSATION = Arg("conversation", "Id, unique prefix, name, @last or @here.", kind="conversation")
CONVERSATIONS = Arg("conversation", "Ids, unique prefixes, names, @last or @here.", "+", "conversation")
ANY = Arg("conversation", "Ids, unique prefixes, names, @last or @here; all of them if absent.", "*", "conversation")
MAYBE = Arg("conversation", "Id, unique prefix, name, @last or @here; all of them if absent.", "?", "conversation")

JSON = Opt(("--json",), "Print one JSON object.")
STREAM = Opt(("--json",), "One JSON object a line, each with seq, ts, conversation and type.")
LISTING = (
    Opt(("--json",), "A JSON array, with the fields named, or all of them.", "FIELDS", bare="", kind="fields"),
    Opt(("--format",), "A line for each, with {field} filled in; \\t and \\n are understood.", "TEMPLATE"),
    Opt(("-q", "--quiet"), "Ids only, one a line."),
    Opt(("-w", "--watch"), "Show it again whenever it changes, until Ctrl-C."),
)
TIMEOUT = Opt(("-t", "--timeout"), "Give up after so long (30s, 5m); exit code 124.", "TIME")
REASON = Opt(("--reason",), "For the history.", "TEXT")
APPROVALS = ("untrusted", "on-failure", "on-request", "never")
SANDBOXES = ("read-only", "workspace-write", "danger-full-access")
SETTINGS = (
    Opt(("-C", "--cd"), "Working directory; the current one if absent.", "DIR", kind="directory", dest="cwd"),
    Opt(("-m", "--model"), "The model; from the config if absent.", "MODEL"),
    Opt(("--profile",), "A profile of the config.", "NAME"),
    Opt(("--approval",), "When to ask a person.", "POLICY", choices=APPROVALS),
    Opt(("--sandbox",), "What commands may touch.", "MODE", choices=SANDBOXES),
    Opt(("-c", "--config"), "Override a key of the config.", "KEY=VALUE", many=True, dest="config"),
)

VERBS: tuple[Verb, ...] = (
    # --- the daemon
    Verb(
        "up",
        "starting:up",
        "start the daemon; returns when it answers",
        "greenroom up",
        opts=(
            Opt(("--foreground",), "Stay in front and log to the terminal."),
            Opt(("--config",), "Config file instead of the one that would be found.", "FILE", kind="file"),
            Opt(("-c",), "Override a key of the config.", "KEY=VALUE", many=True, dest="overrides"),
            Opt(("--profile",), "A profile of the config.", "NAME"),
            JSON,
        ),
        about="A daemon that runs already is success.",
        group="daemon",
    ),
    Verb(
        "down",
        "starting:down",
        "stop the daemon in order; conversations are kept",
        "greenroom down --drain 30s",
        opts=(
            Opt(("--drain",), "How long running turns may go on; from the config if absent.", "TIME"),
            Opt(("--now",), "Interrupt what runs at once."),
        ),
        aliases=("shutdown",),
        about="Returns when its socket is gone. A daemon that does not run is success.",
        group="daemon",
    ),
    Verb(
        "status",
        "status:run",
        "the daemon and its conversations; one conversation in detail",
        "greenroom status --check",
        args=(ANY,),
        opts=(Opt(("--check",), "Exit with 3 if something named, or anything at all, has failed."), *LISTING),
        group="daemon",
    ),
    Verb(
        "doctor",
        "doctor:run",
        "look for what people trip over, and say what to do",
        "greenroom doctor",
        opts=(Opt(("--json",), "A JSON array of the findings."),),
        group="daemon",
    ),
    Verb("pid", "facts:pid", "the daemon's process id", "kill -USR1 $(greenroom pid)", group="daemon"),
    Verb("socket", "facts:socket", "where its socket is", "greenroom socket", group="daemon"),
    Verb(
        "version",
        "facts:version",
        "the version of this program, and of the daemon",
        "greenroom version",
        opts=(JSON,),
        group="daemon",
    ),
    Verb("df", "facts:df", "the space that files of ours take", "greenroom df", opts=LISTING, group="daemon"),
    Verb(
        "reload",
        "config:reload",
        "the daemon reads its config again; prints what changed",
        "greenroom reload",
        opts=(JSON,),
        group="daemon",
    ),
    Verb(
        "config",
        "config:run",
        "what is configured, where, and whether it makes sense",
        "greenroom config get greenroom.drain_seconds",
        args=(
            Arg(
                "what", "get: the config in force. path: the file. check: judge it.", choices=("get", "path", "check")
            ),
            Arg("key", "For get: a dotted key; everything if absent.", "?"),
        ),
        opts=(JSON,),
        about="`get` asks the daemon; `path` and `check` look at the file and need none.",
        group="daemon",
    ),
    Verb(
        "service",
        "service:run",
        "let systemd or launchd keep the daemon running",
        "greenroom service install --print",
        args=(Arg("what", "What to do.", choices=("install", "uninstall", "status")),),
        opts=(
            Opt(("--print",), "Show the file instead of installing it."),
            Opt(("--no-start",), "Write the file, start nothing."),
        ),
        group="daemon",
    ),
    # --- conversations
    Verb(
        "run",
        "running:run",
        "a new conversation: say something and watch the turn",
        "greenroom run -C ~/src/shop 'why does the test fail?'",
        args=(Arg("prompt", "What to say; - reads it from standard input."),),
        opts=(
            Opt(("--name",), "A name to call it by.", "NAME"),
            *SETTINGS,
            Opt(("-d", "--detach"), "Print its id and leave; the turn goes on."),
            STREAM,
        ),
        about="Starts the daemon if none runs. Exit code: how the turn ended.",
        group="conversations",
    ),
    Verb(
        "send",
        "running:send",
        "say something in a conversation",
        "greenroom send @last 'now run the tests' --wait",
        args=(CONVERSATION, Arg("prompt", "What to say; - reads it from standard input.")),
        opts=(
            Opt(
                ("--if-busy",),
                "While a turn runs: join it, wait for one of its own, be refused, or replace it.",
                "POLICY",
                choices=("steer", "enqueue", "reject", "interrupt"),
                default="steer",
            ),
            Opt(("--wait",), "Watch the turn that takes it; exit code: how it ended."),
            Opt(("--key",), "Idempotency key, kept a day: the same key is the same input.", "KEY"),
            TIMEOUT,
            STREAM,
        ),
        group="conversations",
    ),
    Verb(
        "attach",
        "attach:run",
        "watch a conversation live, answer its questions, talk to it",
        "greenroom attach @last",
        args=(CONVERSATION,),
        opts=(
            Opt(("--ro",), "Only watch."),
            Opt(
                ("--from",),
                "Begin after this seq, with `all` or with `now`; with the last turn if absent.",
                "SEQ",
                dest="since",
            ),
            STREAM,
        ),
        aliases=("fg",),
        about="Ctrl-C asks, then interrupts the turn. Ctrl-D or Ctrl-\\ leaves; the conversation goes on.",
        group="conversations",
    ),
    Verb(
        "ls",
        "ls:run",
        "the conversations",
        "greenroom ls --filter state=waiting --json id,name",
        opts=(
            Opt(("-a", "--all"), "Archived ones too."),
            Opt(("--filter",), "state=…, cwd=… or name=…; several must all hold.", "KEY=VALUE", many=True),
            Opt(("--sort",), "By this field; -FIELD turns it round.", "FIELD", default="-updated", signed=True),
            *LISTING,
        ),
        aliases=("ps",),
        group="conversations",
    ),
    Verb(
        "logs",
        "logs:run",
        "what happened in a conversation",
        "greenroom logs @last -f",
        args=(CONVERSATION,),
        opts=(
            Opt(("-f", "--follow"), "Go on with what comes."),
            Opt(("-n", "--lines"), "The last so many events; 100 if absent, with --since all.", "N"),
            Opt(("--since",), "After this seq, or since a time (10m, 2h, 2026-01-31T12:00).", "T"),
            Opt(("--raw",), "Nothing folded, nothing left out."),
            STREAM,
        ),
        aliases=("tail",),
        group="conversations",
    ),
    Verb(
        "events",
        "events:run",
        "what happens in every conversation, one JSON object a line",
        "greenroom events --filter type=task_complete",
        args=(ANY,),
        opts=(
            Opt(("--since",), "Begin with what was since a time (10m, 2h, 2026-01-31T12:00).", "T"),
            Opt(("--filter",), "type=…, several separated by commas.", "KEY=VALUE", many=True),
            Opt(("-n", "--count"), "End after so many.", "N"),
            TIMEOUT,
        ),
        group="conversations",
    ),
    Verb(
        "inspect",
        "keeping:inspect",
        "everything about a conversation, as JSON",
        "greenroom inspect @last --format '{state} {tokens}'",
        args=(CONVERSATION,),
        opts=(Opt(("--format",), "A line, with {field} filled in; {settings.model} goes deeper.", "TEMPLATE"),),
        group="conversations",
    ),
    Verb(
        "top",
        "top:run",
        "a live view; i interrupt, a answer, enter attach, q quit",
        "greenroom top",
        group="conversations",
    ),
    # --- turns
    Verb(
        "interrupt",
        "interrupt:run",
        "stop the turn, keep the conversation; twice kills at once",
        "greenroom interrupt @last --wait 5s",
        args=(ANY._replace(help="Ids, unique prefixes, names, @last or @here."),),
        opts=(
            Opt(("--all",), "Every conversation with a turn."),
            Opt(
                ("--wait",), "Wait so long for the end of the turn; exit code 124 after that.", "TIME", default="30s"
            ),
            Opt(("--kill",), "No grace for its commands."),
            REASON,
            JSON,
        ),
        aliases=("stop",),
        group="turns",
    ),
    Verb(
        "wait",
        "waiting:run",
        "until conversations have come to rest, or ask something",
        "greenroom wait @last --for done -t 10m",
        args=(CONVERSATIONS,),
        opts=(
            Opt(
                ("--for",),
                "idle: no turn runs. done: the same, and the exit code says how it ended. approval: one is awaited; "
                "1 if the turn ends without.",
                "WHAT",
                choices=("idle", "done", "approval"),
                default="done",
                dest="until",
            ),
            TIMEOUT,
            JSON,
        ),
        group="turns",
    ),
    Verb(
        "approvals",
        "approvals:listing",
        "what waits for an answer, oldest first",
        "greenroom approvals --watch",
        args=(
            Arg(
                "question",
                "A question's id or unique prefix, to see all of it; or a conversation; all of them if absent.",
                "?",
                "approval",
            ),
        ),
        opts=LISTING,
        group="turns",
    ),
    Verb(
        "approve",
        "approvals:approve",
        "answer a question with yes",
        "greenroom approve 3f2a --for conversation",
        args=(
            Arg(
                "approval", "A question's id or unique prefix, or a conversation with one question.", "+", "approval"
            ),
        ),
        opts=(
            Opt(
                ("--for",),
                "once: this time. conversation: this command always, in this conversation.",
                "HOW_LONG",
                choices=("once", "conversation"),
                default="once",
                dest="span",
            ),
            JSON,
        ),
        group="turns",
    ),
    Verb(
        "deny",
        "approvals:deny",
        "answer a question with no",
        "greenroom deny 3f2a --reason 'not on main'",
        args=(
            Arg(
                "approval", "A question's id or unique prefix, or a conversation with one question.", "+", "approval"
            ),
        ),
        opts=(
            Opt(("--reason",), "Why; the model is told.", "TEXT"),
            Opt(("--abort",), "End the turn as well."),
            JSON,
        ),
        group="turns",
    ),
    Verb(
        "restart",
        "keeping:restart",
        "a new life for a conversation that was given up as failed",
        "greenroom restart @last",
        args=(CONVERSATION,),
        group="turns",
    ),
    # --- keeping
    Verb(
        "rename",
        "keeping:rename",
        "give a conversation a name, or take it away with ''",
        "greenroom rename @last billing",
        args=(CONVERSATION, Arg("name", "The new name; '' for none.")),
        group="keeping",
    ),
    Verb(
        "fork",
        "keeping:fork",
        "a new conversation with the history of another",
        "greenroom fork @last --name experiment",
        args=(CONVERSATION,),
        opts=(
            Opt(("--at",), "Up to this seq; to the end if absent.", "SEQ"),
            Opt(("--name",), "A name for the new one.", "NAME"),
            JSON,
        ),
        group="keeping",
    ),
    Verb(
        "archive",
        "keeping:archive",
        "put conversations out of sight",
        "greenroom archive billing",
        args=(CONVERSATIONS,),
        opts=(Opt(("--undo",), "Take them out of the archive again."),),
        group="keeping",
    ),
    Verb(
        "rm",
        "keeping:remove",
        "delete conversations for good",
        "greenroom rm billing",
        args=(CONVERSATIONS,),
        opts=(Opt(("-f", "--force"), "Don't ask."),),
        about="Asks on a terminal; elsewhere it needs --force.",
        group="keeping",
    ),
    Verb(
        "export",
        "keeping:export",
        "a conversation's history as JSON lines",
        "greenroom export billing billing.jsonl",
        args=(CONVERSATION, Arg("file", "Where to; standard output if absent.", "?", "file")),
        group="keeping",
    ),
    Verb(
        "import",
        "keeping:import_",
        "a conversation from what `export` wrote",
        "greenroom import billing.jsonl",
        args=(Arg("file", "What to read; - is standard input.", kind="file"),),
        opts=(Opt(("--new-id",), "Under a fresh id, for a conversation that is still here."), JSON),
        group="keeping",
    ),
    # --- around it
    Verb(
        "clients",
        "clients:run",
        "who is connected, to what, and how far behind",
        "greenroom clients",
        opts=(Opt(("--kill",), "Disconnect this one.", "ID"), *LISTING),
        group="around",
    ),
    Verb(
        "mcp",
        "mcp:run",
        "MCP over stdio: what an editor starts",
        "greenroom mcp --sandbox workspace-write",
        opts=(*SETTINGS, Opt(("--embedded",), "Everything in this process, without a daemon.")),
        about="Starts the daemon if none runs.",
        group="around",
    ),
    Verb(
        "completion",
        "completion:run",
        "completion for your shell",
        'eval "$(greenroom completion bash)"',
        args=(Arg("shell", "Which shell.", choices=("bash", "zsh", "fish")),),
        group="around",
    ),
    Verb("demo", "demo:run", "a tour with the built-in model: no key, no network", "greenroom demo", group="around"),
    Verb(
        "help",
        "helping:run",
        "about a verb or a topic",
        "greenroom help exit-codes",
        args=(Arg("topic", "A verb or a topic.", "?", "topic"),),
        group="around",
    ),
    Verb(
        "__complete",
        "completion:answer",
        "what may come next; for the completion scripts",
        "greenroom __complete attach ''",
        args=(Arg("words", "The words so far, the last one unfinished.", "*"),),
        hidden=True,
    ),
)

GROUPS = {
    "conversations": "Conversations",
    "turns": "Turns and questions",
    "keeping": "Keeping",
    "daemon": "The daemon",
    "around": "Around it",
}


def find(name: str) -> Verb | None:
    return next((verb for verb in VERBS if name == verb.name or name in verb.aliases), None)


def shown() -> list[Verb]:
    return [verb for verb in VERBS if not verb.hidden]
