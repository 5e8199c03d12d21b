"""The verbs about the daemon, its config and its machine. Data only."""

from supervisor.cli.verbs.options import ANY_CONVERSATIONS, JSON, LISTING, LONG
from supervisor.cli.verbs.verb_description import Arg, Opt, Verb

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
        args=(ANY_CONVERSATIONS,),
        opts=(Opt(("--check",), "Exit with 3 if one of these conversations has failed."), LONG, *LISTING),
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
        "skills",
        "skills:run",
        "list the skills that a conversation here is offered",
        "greenroom skills",
        opts=(
            Opt(("-C", "--cd"), "Directory. Default: the current directory.", "DIR", kind="directory", dest="cwd"),
            *LISTING,
        ),
        about="A skill is a folder with a file SKILL.md, in .agents/skills or .claude/skills of your home or of the\n"
        "project, or in skills beside Greenroom's config. Of those that are not offered it says why.",
    ),
    Verb(
        "agents",
        "agents:run",
        "list the agents that can carry out turns, and how to get one",
        "greenroom agents claude --check",
        args=(Arg("agent", "Only this one, with all about it.", "?", "agent"),),
        opts=(
            Opt(("--check",), "Start each, ask what it can do, and end it."),
            Opt(("-t", "--timeout"), "Give an agent up after this time. Default: 60s.", "TIME"),
            *LISTING,
        ),
        about="Programs are looked for on the PATH of this shell. --check sends no prompt; the agent runs in an\n"
        "empty directory, and nothing of it is left. Exits with 1 if the agent that is named can't be used.",
    ),
    Verb(
        "mcp-servers",
        "mcp_servers:run",
        "start each configured MCP server from here, and list its tools",
        "greenroom mcp-servers",
        args=(
            Arg(
                "conversation",
                "Id, unique prefix, name, @last or @here: list those that an editor has given it, and start none.",
                "?",
                "conversation",
            ),
        ),
        opts=LISTING,
        about="Starts every server of `[mcp_servers.NAME]` with the variables of this shell, asks for its tools and\n"
        "ends it. Of a server that has none it says why. The daemon's own servers are not touched.",
    ),
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
