"""Exit codes, which are API: their meanings, and the errors and turn endings that lead to them."""

OK = 0
FAILED = 1
USAGE = 2
NOT_WELL = 3
NOT_ALLOWED = 4
NO_SUCH = 5
REFUSED = 6
DOWN = 7
OVERLOADED = 8
TURN_ERROR = 10
INTERRUPTED = 11
BUDGET = 12
DENIED = 13
SOME_FAILED = 75
TIMED_OUT = 124
HUNG_UP = 129
CTRL_C = 130
TERMINATED = 143

MEANINGS = {
    OK: "done",
    FAILED: "failed",
    USAGE: "wrong usage",
    NOT_WELL: "`status --check`: a conversation has failed",
    NOT_ALLOWED: "not allowed",
    NO_SUCH: "no such conversation or approval, or more than one matches",
    REFUSED: "refused because busy, in the wrong state, or already answered",
    DOWN: "the daemon is not running; or it went away and did not come back",
    OVERLOADED: "overloaded; try again later",
    TURN_ERROR: "the turn ended in an error (run, send --wait, wait)",
    INTERRUPTED: "the turn was interrupted (run, send --wait, wait)",
    BUDGET: "a budget ended the turn (run, send --wait, wait)",
    DENIED: "an approval of the turn was denied (run, send --wait, wait)",
    SOME_FAILED: "some of several targets failed",
    TIMED_OUT: "timed out",
    HUNG_UP: "the terminal was closed; the conversation continues",
    CTRL_C: "the command was stopped by Ctrl-C; the conversation continues",
    TERMINATED: "the command was stopped by SIGTERM; the conversation continues",
}

EXIT_BY_CODE = {
    "usage": USAGE,
    "invalid_input": USAGE,
    "config": USAGE,
    "not_allowed": NOT_ALLOWED,
    "unknown_conversation": NO_SUCH,
    "ambiguous_conversation": NO_SUCH,
    "unknown_approval": NO_SUCH,
    "unknown_job": NO_SUCH,
    "ambiguous_approval": NO_SUCH,
    "already_answered": REFUSED,
    "busy": REFUSED,
    "wrong_state": REFUSED,
    "name_taken": REFUSED,
    "daemon_down": DOWN,
    "queue_full": OVERLOADED,
    "overloaded": OVERLOADED,
    "mailbox_full": OVERLOADED,
    "too_many_sessions": OVERLOADED,
    "actor_gone": OVERLOADED,
    "turn_failed": TURN_ERROR,
    "some_failed": SOME_FAILED,
    "deadline_exceeded": TIMED_OUT,
    "timed_out": TIMED_OUT,
}

EXIT_BY_ENDING = {
    "completed": OK,
    "error": TURN_ERROR,
    "failed": TURN_ERROR,
    "lost": TURN_ERROR,
    "interrupted": INTERRUPTED,
    "replaced": INTERRUPTED,
    "budget": BUDGET,
}


def exit_code_of_turn(ending: str, *, denied: bool) -> int:
    """The exit code of an ending. A denied approval explains an interrupted turn better than the interrupt does."""
    code = EXIT_BY_ENDING.get(ending, FAILED)
    return DENIED if denied and code not in {TURN_ERROR, BUDGET} else code
