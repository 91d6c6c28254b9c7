"""One CSV field by RFC 4180; the csv module of older Pythons leaves a lone carriage return bare."""

_SPECIAL = frozenset(',"\r\n')


def quoted(value: object) -> str:
    """The field, in quotes if it needs them."""
    text = str(value)
    if _SPECIAL.isdisjoint(text):
        return text
    return '"' + text.replace('"', '""') + '"'
