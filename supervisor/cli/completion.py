"""`greenroom completion`: a small script for each shell, which asks this program for the next word.

So the script always fits the program. Ids and names come from the daemon, if it answers at once.
"""

from argparse import Namespace
from collections.abc import Iterator

from supervisor.cli.kit.client import Control, Json
from supervisor.cli.kit.formatting import cut_to_width, one_line
from supervisor.cli.kit.problems import Problem
from supervisor.cli.verbs import VERBS, find
from supervisor.cli.verbs.options import STATES
from supervisor.cli.verbs.verb_description import Arg, Opt, Verb

ANSWER_S = 0.15  # the person is typing; with the start of this program it stays below 200 ms
ROWS = 200

# bash splits words at colons and inserts a candidate after the last colon. Candidates must not be expanded, as
# `compgen -W` would do: a name may come from somebody else and contain `$(…)`.
BASH = """_greenroom() {
    local IFS=$'\\n' said=() end=-1 glue= word words
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        if [[ $glue || ($word == :* && $end -ge 0) ]]; then said[end]+=$word; else said[++end]=$word; fi
        [[ $word == *: ]] && glue=1 || glue=
    done
    words=$("${COMP_WORDS[0]}" __complete "${said[@]}" 2>/dev/null) || return
    if [[ $words == ":files" ]]; then
        compopt -o default; COMPREPLY=(); return
    fi
    COMPREPLY=()
    while read -r word; do
        [[ $word == *[!A-Za-z0-9@_.:,/=+-]* ]] && printf -v word %q "$word"
        [[ $word ]] && COMPREPLY+=("$word")
    done <<<"$(cut -f1 <<<"$words")"
    word=${said[end]}
    [[ $COMP_WORDBREAKS == *:* ]] && COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*:}"}"}")
}
complete -F _greenroom greenroom
"""
ZSH = """#compdef greenroom
_greenroom() {
    local -a found
    local line
    while IFS= read -r line; do
        if [[ $line == ":files" ]]; then _files; return; fi
        found+=("${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}")
    done < <("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)
    _describe greenroom found
}
if [[ $funcstack[1] == _greenroom ]]; then _greenroom "$@"; else compdef _greenroom greenroom; fi
"""
FISH = """function __greenroom_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found (command $words[1] __complete $words[2..-1] 2>/dev/null)
    if test "$found" = ":files"
        __fish_complete_path (commandline -ct)
    else
        printf '%s\\n' $found
    end
end
complete -c greenroom -f -a '(__greenroom_complete)'
"""
SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}
FILES = ":files"  # tells the script that the shell is to complete file names

Candidate = tuple[str, str]


def run(chosen: Namespace) -> int:
    print(SCRIPTS[chosen.shell], end="")
    return 0


def answer(chosen: Namespace) -> int:
    """Print one candidate per line, with its meaning after a tab."""
    words = chosen.words or [""]
    for word, meaning in _candidates(words[:-1], words[-1]):
        if word == FILES:
            print(FILES)
            return 0
        if word.startswith(words[-1]):
            print(f"{word}\t{meaning}")
    return 0


def _candidates(before: list[str], last: str) -> Iterator[Candidate]:
    if not before:
        yield from ((verb.name, verb.summary) for verb in VERBS)
        return
    verb = find(before[0])
    if verb is None:
        return
    option = _option(verb, before[-1])
    if option is not None and option.metavar and option.bare is None:
        yield from _values(option.choices, option.kind, last, _first_argument(before))
    elif last.startswith("-"):
        yield from ((flag, opt.help) for opt in verb.opts for flag in opt.flags)
    else:
        if option is not None and option.bare is not None:
            yield from _values((), f"{option.kind} {verb.name}", last)
        argument = _argument(verb, before[1:])
        if argument is not None:
            yield from _values(argument.choices, argument.kind, last, _first_argument(before))


def _first_argument(before: list[str]) -> str:
    """The first argument, which is the conversation where a verb takes one; empty if it was not given."""
    return before[1] if len(before) > 1 and not before[1].startswith(("-", "@")) else ""


def _option(verb: Verb, word: str) -> Opt | None:
    return next((opt for opt in verb.opts if word in opt.flags), None)


def _argument(verb: Verb, given: list[str]) -> Arg | None:
    """The argument that comes next, not counting options and their values."""
    place, skip = 0, False
    for word in given:
        option = _option(verb, word)
        if option is not None:
            skip = bool(option.metavar) and option.bare is None
        elif skip:
            skip = False
        elif not word.startswith("-"):
            place += 1
    if place < len(verb.args):
        return verb.args[place]
    return verb.args[-1] if verb.args and verb.args[-1].many in {"*", "+"} else None


def _values(choices: tuple[str, ...], kind: str, last: str, given: str = "") -> Iterator[Candidate]:
    yield from ((choice, "") for choice in choices)
    if kind in {"file", "directory"}:
        yield FILES, ""
    elif kind == "conversation":
        yield from (
            ("@last", "the conversation used last"),
            ("@here", "the conversation used last in this directory"),
        )
        yield from _conversations()
    elif kind == "approval":
        yield from _approvals()
    elif kind == "input" and given:
        yield from _inputs(given)
    elif kind == "job":
        yield from (
            (job["job"], cut_to_width(one_line(" ".join(job["command"])), 40))
            for job in _ask_daemon("jobs/list", "jobs")
        )
    elif kind == "worktree":
        from supervisor.cli.worktree_git import all_worktrees

        yield from ((worktree.name, worktree.main) for worktree in all_worktrees())
    elif kind == "topic":
        from supervisor.cli.topics import TOPICS

        yield from ((name, summary) for name, (summary, _) in TOPICS.items())
        yield from ((verb.name, verb.summary) for verb in VERBS)
    elif kind == "state":
        yield from ((state, "") for state in STATES)
    elif kind == "agent":
        from supervisor.cli.setting import agents

        yield from agents()
    elif kind == "login":
        from supervisor.work.reach.known_agents import KNOWN_AGENTS

        yield from ((name, known.title) for name, known in KNOWN_AGENTS.items())
    elif kind == "setting":
        from supervisor.cli.setting import candidates

        yield from candidates(last)
    elif kind.startswith("fields"):
        yield from _fields(kind.removeprefix("fields").strip(), last)


def _conversations() -> Iterator[Candidate]:
    for row in _ask_daemon("conversation/list", "conversations", limit=ROWS):
        meaning = f"{row['state']} {cut_to_width(one_line(row['preview'] or ''), 40)}"
        yield from ((name, meaning) for name in (row["name"], row["conversation"][:8]) if name and name.isprintable())


def _approvals() -> Iterator[Candidate]:
    from supervisor.cli.kit.approval_text import row_of

    for approval in map(row_of, _ask_daemon("approvals/list", "approvals")):
        yield approval["id"][:8], cut_to_width(approval["what"], 40)


def _inputs(conversation: str) -> Iterator[Candidate]:
    for message in _ask_daemon("conversation/queue", "waiting", conversation=conversation):
        yield message["input"], cut_to_width(one_line(message["preview"]), 40)


def _ask_daemon(method: str, member: str, **params: int | str) -> list[Json]:
    """Ask the daemon for a list; empty if it does not answer at once."""
    try:
        with Control("complete", timeout_s=ANSWER_S, answer_s=ANSWER_S) as control:
            found: list[Json] = control.call(method, **params)[member]
    except Problem:
        return []
    return found


def _fields(verb: str, last: str) -> Iterator[Candidate]:
    """Complete the last part of a comma-separated list."""
    from supervisor.cli.agents import AGENTS
    from supervisor.cli.approvals import OPEN_APPROVALS
    from supervisor.cli.clients import CLIENTS
    from supervisor.cli.facts import FILES as SIZES
    from supervisor.cli.jobs import JOBS
    from supervisor.cli.kit.conversation_rows import LISTING
    from supervisor.cli.mcp_servers import SERVERS
    from supervisor.cli.queue import WAITING_MESSAGES
    from supervisor.cli.search import HIT_LIST
    from supervisor.cli.skills import SKILLS
    from supervisor.cli.spending import BUDGET, USAGE
    from supervisor.cli.worktree import WORKTREES

    own = {"approvals": OPEN_APPROVALS, "clients": CLIENTS, "df": SIZES, "search": HIT_LIST, "skills": SKILLS}
    spent = {"budget": BUDGET, "usage": USAGE}
    fields = {
        **own,
        **spent,
        "agents": AGENTS,
        "jobs": JOBS,
        "mcp-servers": SERVERS,
        "queue": WAITING_MESSAGES,
        "worktree": WORKTREES,
    }.get(verb, LISTING).fields
    head = last[: last.rfind(",") + 1]
    yield from ((f"{head}{name}", meaning) for name, meaning in fields.items())
