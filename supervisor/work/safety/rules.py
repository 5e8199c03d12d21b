"""Tables: the verdict of each policy with each sandbox, and the programs that only read.

Data alone; `judge` and `known_safe` apply it.
"""

import re
from collections.abc import Mapping
from enum import Enum

from msgspec import Struct

from actors.vocabulary.settings import ApprovalPolicy


class MustAsk(Struct, frozen=True):
    """A question is needed. `history`: it only asks whether the command may change a repository's history, sandboxed.

    `inside`: a yes means in the sandbox, and only a yes to `outside` means without it.
    """

    reason: str | None = None
    history: bool = False
    inside: bool = False


class MayRun(Struct, frozen=True):
    """Permission to run; `read_only`: without write access and network, whatever the conversation's own sandbox.

    `retry_where_held_back`: if the sandbox held it back, a person is asked whether it may run again without it.
    """

    sandboxed: bool = False
    retry_unsandboxed_on_failure: bool = False
    read_only: bool = False
    retry_where_held_back: bool = False


class Reject(Struct, frozen=True):
    text: str


Verdict = MustAsk | MayRun | Reject


class Sandboxing(Enum):
    """The columns of the tables."""

    UNWANTED = "danger-full-access"
    AVAILABLE = "wanted, and there is one"
    MISSING = "wanted, and there is none"


NOT_TRUSTED = "exec command rejected: auto-rejected because command is not on trusted list"
OUTSIDE = "writing outside of the project; rejected by user approval settings"
EMPTY_PATCH = "empty patch"
RETRY_REASON = "command failed; retry without sandbox?"
OUTSIDE_REASON = "writes outside of the project"
READ_ONLY = "writing is blocked by the read-only sandbox; rejected by user approval settings"
READ_ONLY_REASON = "the sandbox is read-only"

_UNTRUSTED, _ON_FAILURE = ApprovalPolicy.UNTRUSTED, ApprovalPolicy.ON_FAILURE
_ON_REQUEST, _NEVER = ApprovalPolicy.ON_REQUEST, ApprovalPolicy.NEVER
HEARS_ESCALATION = frozenset({_UNTRUSTED, _ON_REQUEST})
_ASK, _RUN, _RUN_INSIDE = MustAsk(), MayRun(), MayRun(sandboxed=True)
_TRY_INSIDE = MayRun(sandboxed=True, retry_unsandboxed_on_failure=True)
_ASK_INSIDE = MustAsk(inside=True)
APPROVED_INSIDE = MayRun(sandboxed=True, retry_where_held_back=True)

Table = Mapping[ApprovalPolicy, Mapping[Sandboxing, Verdict]]


def _table(rows: Mapping[ApprovalPolicy, tuple[Verdict, Verdict, Verdict]]) -> Table:
    """Make a table of rows that have a verdict for each column, in the order of `Sandboxing`."""
    return {policy: dict(zip(Sandboxing, row, strict=True)) for policy, row in rows.items()}


COMMANDS = _table(
    {
        _UNTRUSTED: (_ASK, _ASK_INSIDE, _ASK),
        _ON_FAILURE: (_RUN, _TRY_INSIDE, _ASK),
        _ON_REQUEST: (_RUN, _RUN_INSIDE, _ASK),
        _NEVER: (_RUN, _RUN_INSIDE, Reject(NOT_TRUSTED)),
    }
)

PATCHES_INSIDE = _table(
    {
        _UNTRUSTED: (_ASK, _ASK, _ASK),
        _ON_FAILURE: (_RUN, _RUN, _ASK),
        _ON_REQUEST: (_RUN, _RUN, _ASK),
        _NEVER: (_RUN, _RUN, _RUN),
    }
)

# The same in every column: patches are confined by the roots, not by a sandbox.
PATCHES_OUTSIDE: dict[ApprovalPolicy, Verdict] = {
    _UNTRUSTED: MustAsk(),
    _ON_FAILURE: MustAsk(OUTSIDE_REASON),
    _ON_REQUEST: MustAsk(OUTSIDE_REASON),
    _NEVER: Reject(OUTSIDE),
}
# The same verdicts for a read-only sandbox, with another reason: "outside" would be wrong there.
PATCHES_READ_ONLY: dict[ApprovalPolicy, Verdict] = {
    _UNTRUSTED: MustAsk(),
    _ON_FAILURE: MustAsk(READ_ONLY_REASON),
    _ON_REQUEST: MustAsk(READ_ONLY_REASON),
    _NEVER: Reject(READ_ONLY),
}

# Files that agents, editors and shells of the person obey, inside or outside the roots. `{}`: the programs' names.
OBEYED_REASON = "{} would obey it without asking you"
OBEYED = "{} would obey it without asking; rejected by user approval settings"

# --- programs that only read ---------------------------------------------------------------------------------------


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


READERS = _words("cat cd echo false grep head ls nl pwd tail true wc which")

FIND_ACTS = _words("-exec -execdir -ok -okdir -delete -fls -fprint -fprint0 -fprintf")

RG_STARTS_PROGRAMS = frozenset({"--pre", "--hostname-bin", "--search-zip"})
RG_SEARCH_ZIP_LETTER = "z"  # may hide in a cluster, as in -nz

GIT_READS = _words("branch status log diff show")
# Git accepts any unambiguous prefix of a long option.
GIT_WRITES_OR_STARTS = frozenset({"--output", "--ext-diff", "--textconv", "--show-signature", "--help"})
GIT_SIGNATURE_FORMAT = re.compile(r"%[-+ ]?G")  # runs gpg, or the program that the configuration names for it
GIT_BRANCH_SIGNATURE = "signature"  # a field to show or sort by, since git 2.42; runs it too
GIT_BRANCH_LISTS = _words(
    "-a --all -r --remotes -v -vv --verbose -i --ignore-case --show-current --list --color --no-color --column "
    "--no-column --contains --no-contains --merged --no-merged --points-at --sort --format"
)
# With one of these, a bare word is a pattern or a commit and not the name of a new branch.
GIT_BRANCH_LISTS_SURELY = _words("--list --contains --no-contains --merged --no-merged --points-at")

# A command that runs without a sandbox must not obey a project's files. git starts programs that a repository's
# configuration names, and a folder of a cloned tree can be such a repository.
OBEYS_FILES = frozenset({"git"})
# Directories to which no project and no agent writes; a program counts as known if it is found there first.
SYSTEM_DIRECTORIES = frozenset(
    {
        *("/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"),
        *("/opt/homebrew/bin", "/run/current-system/sw/bin"),
    }
)
# Variables that make a shell, the dynamic linker or one of the readers start or load something else.
STEERING = re.compile(
    r"BASH_ENV|ENV|SHELLOPTS|BASHOPTS|BASH_FUNC_.*|LD_.*|DYLD_.*|GCONV_PATH|GREP_OPTIONS|RIPGREP_CONFIG_PATH"
)
