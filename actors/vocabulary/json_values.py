"""A check for JSON with too many values to be parsed in a moment, made on its bytes. Pure."""

SMALL = 64 << 10  # JSON of this size is parsed in a millisecond or two, whatever is in it


def has_too_many_values(data: bytes, most_values: int) -> bool:
    """Tell whether JSON has too many values to be parsed in a moment. Much faster than parsing."""
    if len(data) <= SMALL:
        return False
    plain = data.replace(b"\\\\", b"").replace(b'\\"', b"") if b"\\" in data else data
    if plain.count(b'"') > 4 * most_values:  # a name and a text for each value
        return True
    outside = b"".join(plain.split(b'"')[::2]) if b'"' in plain else plain
    values = 0
    for start in range(0, len(outside), SMALL):
        values += sum(outside.count(mark, start, start + SMALL) for mark in (b",", b"[", b"{"))
        if values > most_values:
            return True
    return False
