"""The verbs by which people talk to conversations, and read and find them. Data only."""

from supervisor.cli.verbs.options import (
    ANY_CONVERSATIONS,
    CONVERSATION,
    EFFORTS,
    IMAGE,
    LISTING,
    LONG,
    NEW_VALUES,
    SETTINGS,
    STREAM,
    TIMEOUT,
    WRITABLE_ROOTS,
)
from supervisor.cli.verbs.verb_description import Arg, Opt, Verb

IN_CONVERSATION = (
    Verb(
        "run",
        "running:run",
        "start a conversation with a prompt and watch the turn",
        "greenroom run -C ~/src/shop 'why does the test fail?'",
        args=(Arg("prompt", "The message; - reads it from standard input."),),
        opts=(
            Opt(
                ("--name",),
                "Name of the conversation. Default: that of its worktree, or the prompt's first words.",
                "NAME",
            ),
            *SETTINGS,
            Opt(
                ("--worktree",),
                "Work in a git worktree and on a branch of its own, called NAME, or by the prompt's first words.",
                "NAME",
                bare="",
            ),
            Opt(("--provider",), "Model provider. Default: from the config.", "NAME"),
            Opt(("--effort",), "How hard a reasoning model thinks.", "EFFORT", choices=EFFORTS),
            WRITABLE_ROOTS,
            IMAGE,
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
            IMAGE,
            Opt(("--wait",), "Watch the turn; the exit code says how it ended."),
            Opt(
                ("--key",), "Idempotency key, kept for a day: a second message with the same key is not sent.", "KEY"
            ),
            *NEW_VALUES,
            TIMEOUT,
            STREAM,
        ),
        about="Options for the model, the sandbox and the like are for the turn of this message alone, so it gets "
        "one of its own; `greenroom set` changes the conversation.",
    ),
    Verb(
        "compact",
        "running:compact",
        "sum up a conversation's history, so that the model has room again",
        "greenroom compact @last",
        args=(CONVERSATION,),
        opts=(
            Opt(("-d", "--detach"), "Return at once; the turn continues."),
            TIMEOUT,
            STREAM,
        ),
        about="What you said, the plan and the last steps stay word for word; the history has the rest.\n"
        "While a turn runs it waits for a turn of its own. Ctrl-C stops it, and the history stays as it was.",
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
            Opt(
                ("--state",),
                "Only those in this state, such as waiting, running, failed or denied.",
                "STATE",
                kind="state",
            ),
            Opt(("--filter",), "Only where state=…, cwd=… or name=…; repeat to combine.", "KEY=VALUE", many=True),
            Opt(
                ("--sort",),
                "Sort by this field; -FIELD sorts in reverse. Default: -updated, the last used first.",
                "FIELD",
                default="-updated",
                signed=True,
            ),
            LONG,
            *LISTING,
        ),
        about="The state tells of a turn that failed, was denied or lost, or was ended by a budget, until the\n"
        "next message.",
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
        args=(ANY_CONVERSATIONS,),
        opts=(
            Opt(("--since",), "Begin with events since this time (10m, 2h, 2026-01-31T12:00).", "T"),
            Opt(("--filter",), "Only events with type=…; separate several with commas.", "KEY=VALUE", many=True),
            Opt(("-n", "--count"), "Stop after N events.", "N"),
            TIMEOUT,
        ),
    ),
    Verb(
        "inspect",
        "stored_conversations:inspect",
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
        opts=(LONG,),
        about="Keys: i interrupt, a answer an approval, enter attach, q quit.",
    ),
)
