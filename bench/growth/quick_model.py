"""A chat model that answers every request with one word, and reads the request without looking into it.

Long requests cost this process next to nothing, so that a figure shows the daemon's cost. Prints its address.
"""

import socket
import threading

WORD = (
    b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":null}]}\n\n'
    b'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
    b"data: [DONE]\n\n"
)
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n%s" % (len(WORD), WORD)
BUFFER = 1 << 20


def serve(connection: socket.socket) -> None:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    room = memoryview(bytearray(BUFFER))
    while True:
        head = b""
        while b"\r\n\r\n" not in head:
            piece = connection.recv(65536)
            if not piece:
                return
            head += piece
        lines, _, body = head.partition(b"\r\n\r\n")
        lengths = (line[15:] for line in lines.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        length = int(next(lengths, b"0"))
        left = length - len(body)
        while left > 0:
            left -= connection.recv_into(room, min(left, BUFFER))
        connection.sendall(ANSWER)


def main() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/v1", flush=True)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


if __name__ == "__main__":
    main()
