"""The least cost of reading many streams at once: sockets and a loop, nothing is parsed, nothing kept.

python -m bench.whole.bare_streams BASE_URL STREAMS SCRIPT      prints seconds, and seconds of CPU
"""

import asyncio
import json
import sys
import time
from urllib.parse import urlsplit

END = b"0\r\n\r\n"


async def read(base_url: str, script: str) -> None:
    parts = urlsplit(base_url)
    body = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": script}]}).encode()
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
    while not (await reader.read(1 << 16)).endswith(END):
        pass
    writer.close()


async def main(base_url: str, streams: int, script: str) -> None:
    began, used = time.perf_counter(), time.process_time()
    await asyncio.gather(*(read(base_url, script) for _ in range(streams)))
    print(time.perf_counter() - began, time.process_time() - used)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
