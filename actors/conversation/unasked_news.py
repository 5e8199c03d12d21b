"""An agent's news outside of any turn: recorded, or followed by a turn."""

from actors.conversation.draft import Draft
from actors.conversation.starting import follow_agent
from actors.messages.conversation import RecordAgentNews
from actors.vocabulary.answers import Done


def record_news(draft: Draft, command: RecordAgentNews) -> None:
    for news in command.news:
        draft.emit(news)
    draft.reply_when_stored(Done())


def follow(draft: Draft) -> None:
    """Begin a turn for the agent's own work. An open turn takes it in; if no turn can begin, the next one does."""
    follow_agent(draft)
    draft.reply_when_stored(Done())
