"""All verbs, in groups as help shows them. Data only: a verb's module is imported when the verb runs."""

from supervisor.cli.verbs.clients import CLIENTS_AND_HELP
from supervisor.cli.verbs.conversations import IN_CONVERSATION
from supervisor.cli.verbs.daemon import DAEMON
from supervisor.cli.verbs.organising import ORGANISING
from supervisor.cli.verbs.turns import TURNS
from supervisor.cli.verbs.verb_description import Arg, Verb

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
    "Organising": ORGANISING,
    "The daemon": DAEMON,
    "Clients and help": CLIENTS_AND_HELP,
}
VERBS = tuple(verb for verbs in GROUPS.values() for verb in verbs)


def find(name: str) -> Verb | None:
    return next((verb for verb in (*VERBS, COMPLETE) if name == verb.name or name in verb.aliases), None)
