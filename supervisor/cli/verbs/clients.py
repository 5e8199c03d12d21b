"""The verbs about clients, shells and help. Data only."""

from supervisor.cli.verbs.options import LISTING, SETTINGS
from supervisor.cli.verbs.verb_description import Arg, Opt, Verb

CLIENTS_AND_HELP = (
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
        "acp",
        "acp:run",
        "serve ACP over stdio; editors start this",
        "greenroom acp --agent claude",
        opts=(
            *SETTINGS,
            Opt(("--embedded",), "Run everything in this process, without a daemon."),
        ),
        about="Every conversation is a session of the editor, and goes on without it. Starts the daemon if none "
        "runs. `greenroom acp login` is `greenroom login`: editors start it so.",
    ),
    Verb(
        "schema",
        "facts:schema",
        "print the JSON Schema of the control API or of the events",
        "greenroom schema control > control.json",
        args=(
            Arg(
                "what",
                "control: methods, answers, notifications and errors. events: an event in its envelope.",
                choices=("control", "events"),
            ),
        ),
        about="For programs that speak to the daemon. It is the schema of this version, and needs no daemon.",
    ),
    Verb(
        "login",
        "login:run",
        "store a model provider's key, or log an agent in",
        "greenroom login",
        args=(Arg("name", "A model provider or an agent. Default: ask.", "?", "login"),),
        opts=(Opt(("--forget",), "Forget the stored key."),),
        about="A key is stored for you alone, where no command of an agent sees it, and goes behind the provider's "
        "variable. The provider that was chosen last is used where the config names none. Nothing is sent anywhere.",
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
