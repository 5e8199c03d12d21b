"""The topics that `greenroom help TOPIC` explains. Text only; the reference shows it too."""

from supervisor.cli.kit import exits

_CODES = "\n".join(f"  {code:>3}  {meaning}" for code, meaning in exits.MEANINGS.items())

TOPICS = {
    "exit-codes": (
        "what each exit code means",
        f"""The exit code says whether the command itself succeeded. `status --check` says
whether a conversation has failed.

{_CODES}

With --json an error is an object on standard error:
  {{"error": {{"code": "unknown_conversation", "message": "…"}}}}""",
    ),
    "ids": (
        "how to name a conversation on the command line",
        """Every conversation has an id, a UUID. Where a verb takes a CONVERSATION, write
one of these:

  3f2a7c1b-…   the id
  3f2a         any unique prefix of at least two characters
  billing      the name given with `run --name` or `rename`
  @last        the conversation used last
  @here        the conversation used last in the current directory

Tables show the first eight characters. An ambiguous prefix ends with exit code
5 and lists the candidates. Approvals have ids too; `approve` and `deny` take a
unique prefix of those, or a conversation that has exactly one open approval.""",
    ),
    "attach": (
        "what happens while a conversation is watched",
        """`run`, `send --wait` and `attach` show a turn live.

  Ctrl-C             asks whether to interrupt the turn; the second one does,
                     the third one kills its commands. If no turn runs, it
                     leaves
  Ctrl-D or Ctrl-\\   leaves; the conversation goes on
  a word and Enter   answers an open approval: yes; outside (of the sandbox,
                     where yes means inside); always (the same later in this
                     conversation); no; no, because TEXT; abort (no, and the
                     turn ends); or a word that the approval lists. show
                     prints a long approval in full. Any other single word is
                     not sent: it may have been meant as an answer
  anything else      is a message, which Enter sends; it joins a running turn

A paste answers no approval, and neither does a word that you began to type
before the approval appeared.

Leaving never ends a turn, and neither does closing the terminal. `attach`
begins with the last turn; --from takes a seq, `all` or `now`. In a pipe the
model's words go to standard output and everything else to standard error;
Ctrl-C leaves.

The bell rings for an open approval, and for the end of a turn that took long,
unless the window has the focus or a key was just pressed. The title tells, too.

If the daemon goes away, these verbs wait until somebody starts it, and go on
where they were; so do `logs -f`, `wait`, `events`, `top` and --watch. Nothing
is sent twice: a turn that ran is lost, which is exit code 10. A line that you
have typed is kept, or printed when you leave. On a terminal the wait has no
end but yours: Ctrl-C leaves. In a pipe it is 30 s, then exit code 7.""",
    ),
    "approvals": (
        "what turns ask for, and how to answer",
        """A turn asks for an approval before it does what its policy does not allow. It
waits until somebody answers, even if the daemon restarts meanwhile. You can
answer in any terminal:

  greenroom approvals                    list open approvals, oldest first
  greenroom approve 3f2a                 yes, this time
  greenroom approve 3f2a --outside       yes, outside the sandbox
  greenroom approve 3f2a --for conversation
                                         yes, and the same later in this
                                         conversation
  greenroom approve 3f2a --option NAME   an answer that the agent offers; its
                                         own rules are among them
  greenroom deny 3f2a because we use a branch
                                         no; the model is told why
  greenroom deny 3f2a --abort            no, and the turn ends

The first answer wins; a later one ends with exit code 6 and names the winner.
`run --approval` says when to ask: untrusted, on-failure, on-request or never.""",
    ),
    "config": (
        "where the configuration is, and which value wins",
        """Greenroom reads one file, the first of these that exists: the one given with
`up --config`, $GREENROOM_HOME/config.toml,
$XDG_CONFIG_HOME/greenroom/config.toml, and Codex's $CODEX_HOME/config.toml, of
which it reads the keys that both programs know.

  The first that has a value wins:
  option > -c KEY=VALUE > profile > file > default

  greenroom config path        print the file in use
  greenroom config check       look for errors, with file and line
  greenroom config get [KEY]   print what the daemon uses
  greenroom reload             make the daemon read it again; print what changed""",
    ),
    "environment": (
        "environment variables, and the environment of commands",
        """  GREENROOM_HOME     absolute path; all files of Greenroom go below it
  XDG_CONFIG_HOME, XDG_STATE_HOME
                     where configuration, journal and socket are otherwise;
                     programs started without these variables find them, too
  CODEX_HOME         where Codex's configuration is
  OPENAI_API_KEY, OPENAI_BASE_URL
                     key and address of the built-in provider `openai`
  NO_COLOR           no colours
  PAGER              for `logs` and `inspect`; less if it is not set

A conversation's commands run with the environment of the client that created
it, refreshed at `attach`. After a restart of the daemon they run with that of
the daemon, until a client attaches.""",
    ),
}
