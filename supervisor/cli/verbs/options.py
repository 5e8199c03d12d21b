"""Arguments and options that several verbs have. Data only."""

from supervisor.cli.verbs.verb_description import Arg, Opt

CONVERSATION = Arg("conversation", "Id, unique prefix, name, @last or @here.", kind="conversation")
CONVERSATIONS = Arg("conversation", "Ids, unique prefixes, names, @last or @here.", "+", "conversation")
ANY_CONVERSATIONS = Arg(
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
LONG = Opt(
    ("-l", "--long"),
    "Show tokens, cost, context, agent and model in a narrow window, too. Default: from 120 columns on.",
)
IMAGE = Opt(
    ("--image",),
    "Send this picture, too: PNG, JPEG, GIF or WebP; repeat for several.",
    "FILE",
    kind="file",
    many=True,
)
TIMEOUT = Opt(("-t", "--timeout"), "Give up after this time (30s, 5m), with exit code 124.", "TIME")
REASON = Opt(("--reason",), "The reason, kept in the history.", "TEXT")
BAD_ENDINGS = ("failed", "denied", "lost", "over-budget")  # until the next message
STATES = ("starting", "idle", "running", "waiting", "interrupting", "parked", *BAD_ENDINGS, "archived")
APPROVALS = ("untrusted", "on-failure", "on-request", "never")
SANDBOXES = ("read-only", "workspace-write", "danger-full-access")
EFFORTS = ("minimal", "low", "medium", "high", "none")
WRITABLE_ROOTS = Opt(
    ("--writable-roots",),
    "Further directories that may be written, with colons between them.",
    "DIRS",
    kind="directory",
)
NEW_VALUES = (
    Opt(("-m", "--model"), "Another model.", "MODEL"),
    Opt(("--provider",), "Another model provider.", "NAME"),
    Opt(("--profile",), "The values of this profile of the config.", "NAME"),
    Opt(("--effort",), "How hard a reasoning model thinks.", "EFFORT", choices=EFFORTS),
    Opt(("--approval",), "When to ask for an approval.", "POLICY", choices=APPROVALS),
    Opt(("--sandbox",), "What commands may read and write.", "MODE", choices=SANDBOXES),
    WRITABLE_ROOTS,
    Opt(("--agent",), "The agent that carries out turns; `greenroom agents` lists them.", "NAME", kind="agent"),
)
CD = Opt(("-C", "--cd"), "Working directory. Default: the current directory.", "DIR", kind="directory", dest="cwd")
SETTINGS = (
    CD,
    Opt(
        ("--agent",),
        "Agent that carries out turns; `greenroom agents` lists them. Default: from the config.",
        "NAME",
        kind="agent",
    ),
    Opt(("-m", "--model"), "Model. Default: from the config; another agent chooses its own.", "MODEL"),
    Opt(("--profile",), "Profile of the config to use.", "NAME"),
    Opt(("--approval",), "When to ask for an approval.", "POLICY", choices=APPROVALS),
    Opt(("--sandbox",), "What commands may read and write.", "MODE", choices=SANDBOXES),
    Opt(("-c", "--config"), "Override a key of the config.", "KEY=VALUE", many=True, dest="config"),
)
