"""Post a message when a conversation asks for an approval: to a chat's webhook, or to the terminal.

python examples/post_questions.py [URL]
"""

import asyncio
import json
import sys
import urllib.request
from collections.abc import Callable
from typing import Any

import greenroom


def to_webhook(url: str) -> Callable[[str], None]:
    def post(text: str) -> None:
        body = json.dumps({"text": text}).encode()
        request = urllib.request.Request(url, body, {"Content-Type": "application/json"})  # noqa: S310  # the user's own
        urllib.request.urlopen(request, timeout=10).close()  # noqa: S310  # the same

    return post


def words(question: greenroom.OpenQuestion[Any]) -> str:
    asks = f"{question.conversation[:8]} asks about `{question.what}`"
    return f"{asks}; `greenroom approve {question.id[:8]}` allows it"


async def main(post: Callable[[str], None]) -> None:
    async def tell(question: greenroom.OpenQuestion[Any]) -> None:
        await asyncio.to_thread(post, words(question))

    async with greenroom.AsyncClient(start=True) as client, client.on_question(tell):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(to_webhook(sys.argv[1]) if len(sys.argv) > 1 else lambda text: print(text, flush=True)))
