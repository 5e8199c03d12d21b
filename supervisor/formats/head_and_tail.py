"""The parts of an output that a model is given: its beginning and its end. Pure."""


def head_and_tail(text: str, max_bytes: int, max_lines: int) -> str:
    """Keep the first and the last half of the allowed size, and say between them how much was left out and why."""
    lines = text.splitlines(keepends=True)
    if len(lines) <= max_lines and len(text.encode()) <= max_bytes:
        return text
    head = _fitting(lines[: max_lines // 2], max_bytes // 2)
    tail = _fitting(lines[max(len(lines) - max_lines // 2, 0) :], max_bytes // 2, from_end=True)
    left_out = len(text.encode()) - len(head.encode()) - len(tail.encode())
    gap = f"[… {left_out} bytes left out: at most {max_lines} lines and {max_bytes} bytes are shown …]"
    return f"{head.rstrip(chr(10))}\n{gap}\n{tail}"


def _fitting(lines: list[str], max_bytes: int, *, from_end: bool = False) -> str:
    raw = "".join(lines).encode()
    part = raw[-max_bytes:] if from_end else raw[:max_bytes]
    return part.decode("utf-8", "ignore")
