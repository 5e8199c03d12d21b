"""The generated part of a page that is otherwise written by hand: the text between its marks. Pure."""


def with_part(page: str, name: str, part: str) -> str:
    """The page with this text between `<!-- name -->` and `<!-- /name -->`, and nothing else of it changed."""
    start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, _, rest = page.partition(start)
    _, _, after = rest.partition(end)
    return f"{before}{start}\n\n{part.strip()}\n\n{end}{after}"
