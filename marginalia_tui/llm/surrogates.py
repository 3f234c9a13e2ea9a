"""Lone surrogates: half a character, which servers send and no encoding can carry."""


def clean_text(text: str) -> str:
    """The text with pairs joined and lone surrogates replaced by the sign for what can't be shown."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
