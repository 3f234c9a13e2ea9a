"""The front matter of a Markdown file: the few fields that a book knows, and the rest as it stands.

Only the plain forms of YAML are read that writing tools use for these fields: `key: value`, quoted values, a list,
a folded or literal block. Everything else is kept line by line and written back unchanged.
"""

import json
import re
from dataclasses import dataclass, field

MAX_LINES = 2_000
"""Lines of a front matter; a longer one is text."""

_KEY = re.compile(r"([^\s:#\-\[\]{}\"'&*!|>%@`][^:]{0,80}?)[ \t]*:(?:[ \t]+(.*))?$")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)$")
_NESTED_ITEM = re.compile(r"[ \t]*(?:-[ \t]+)+(.*)$")
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'")


@dataclass(frozen=True, slots=True)
class Entry:
    """One field of the top level: its key, and its lines as they stand."""

    key: str
    lines: tuple[str, ...]


@dataclass(slots=True)
class FrontMatter:
    """The fields of a front matter, in order."""

    entries: list[Entry] = field(default_factory=list)

    def take(self, *keys: str) -> str:
        """Takes out the first field with one of these keys and gives its value as one text, empty when there is none.

        A value that is no plain text or list of texts stays where it is.
        """
        for key in keys:
            for entry in self.entries:
                if entry.key.lower() == key and (value := _value(entry)):
                    self.entries.remove(entry)
                    return value
        return ""

    def nested_items(self, key: str, inner: str) -> list[tuple[int, str]]:
        """The list items below the field `inner` of the field `key` in order, each with how deep it is, from 0."""
        return _items_below(self.lines_of(key), inner)

    def nested_value(self, key: str, inner: str) -> str:
        """The plain value of the field `inner` of the field `key`, empty when there is none."""
        for line in self.lines_of(key):
            if (found := _KEY.match(line.strip())) and found[1] == inner:
                return _scalar(found[2] or "")
        return ""

    def lines_of(self, key: str) -> tuple[str, ...]:
        """The lines below a field of the top level, as they stand."""
        return next((entry.lines[1:] for entry in self.entries if entry.key == key), ())

    @property
    def rest(self) -> str:
        """What was not taken, as it stands."""
        return "\n".join(line for entry in self.entries for line in entry.lines)


def part_front_matter(text: str) -> tuple[FrontMatter, str]:
    """Parts the front matter from the text that follows it. A text without one gives an empty front matter."""
    if not text.startswith("---"):
        return FrontMatter(), text
    end = 0
    lines: list[str] = []
    while len(lines) <= MAX_LINES and end >= 0:
        start, end = end, text.find("\n", end) + 1 or -1
        line = text[start : end - 1 if end >= 0 else len(text)]
        if not lines and line.rstrip() != "---":
            break
        if lines and line.rstrip() in ("---", "..."):
            found = _entries(lines[1:])
            return (FrontMatter(found), text[end:] if end >= 0 else "") if found else (FrontMatter(), text)
        lines.append(line)
    return FrontMatter(), text


def _entries(lines: list[str]) -> list[Entry]:
    """The fields of the lines; none when they are not a front matter but prose between two rules."""
    found: list[tuple[str, list[str]]] = []
    for line in lines:
        stands_alone = not line.strip() or line.startswith("#")
        if found and (stands_alone or line[0] in " \t-"):
            found[-1][1].append(line)
        elif stands_alone:
            found.append(("", [line]))
        elif key := _KEY.match(line):
            found.append((key[1].strip(), [line]))
        else:
            return []
    # A key may have spaces, but a sentence with a colon has them too.
    if not any(key and " " not in key for key, _ in found):
        return []
    return [Entry(key, tuple(lines)) for key, lines in found]


def _value(entry: Entry) -> str:
    found = _KEY.match(entry.lines[0])
    first = (found[2] or "").strip() if found else ""
    below = [line for line in entry.lines[1:] if line.strip()]
    if first[:1] in ("|", ">"):
        joint = "\n" if first[0] == "|" else " "
        return joint.join(line.strip() for line in below)
    if first.startswith(("{", "&", "*", "!")):
        return ""
    if first.startswith("["):
        return "" if below else ", ".join(_flow_items(first))
    if not first:
        items = [_ITEM.match(line) for line in below]
        if not all(items):
            return ""
        return ", ".join(_scalar(item[1]) for item in items if item)
    return _scalar(" ".join([first, *(line.strip() for line in below if not line.startswith("#"))]))


def _flow_items(value: str) -> list[str]:
    """The texts of a list in brackets."""
    inner = value.strip()[1:].rstrip().removesuffix("]")
    found: list[str] = []
    place = 0
    while place < len(inner):
        quoted = _QUOTED.match(inner, place)
        end = inner.find(",", quoted.end() if quoted else place)
        end = len(inner) if end < 0 else end
        found.append(_scalar(inner[place:end]))
        place = end + 1
        while place < len(inner) and inner[place] == " ":
            place += 1
    return [item for item in found if item]


def _scalar(value: str) -> str:
    value = value.strip()
    quoted = _QUOTED.match(value)
    if quoted is None:
        return value.split(" #", 1)[0].strip()
    inside = quoted.group()
    if inside[0] == "'":
        return inside[1:-1].replace("''", "'")
    try:
        read = json.loads(inside, strict=False)
    except json.JSONDecodeError:
        return inside[1:-1]
    return str(read)


def _innermost(line: str) -> tuple[int, str]:
    """Where the text of a list item begins, and the text; `- - name` is an item of a list in a list."""
    item = _NESTED_ITEM.match(line)
    return (item.start(1), item[1]) if item else (0, "")


def _items_below(lines: tuple[str, ...], inner: str) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    columns: list[int] = []
    depth = -1
    for line in lines:
        indent = len(line) - len(line.lstrip())
        key = _KEY.match(line.strip())
        if depth < 0:
            if key and key[1].lower() == inner:
                depth = indent
                if (key[2] or "").startswith("["):
                    return [(0, item) for item in _flow_items(key[2])]
            continue
        column, item = _innermost(line)
        if item:
            while columns and columns[-1] > column:
                columns.pop()
            if not columns or columns[-1] < column:
                columns.append(column)
            found.append((len(columns) - 1, _scalar(item)))
        elif key and indent <= depth:
            break
    return found


def write_front_matter(fields: dict[str, str], rest: str) -> str:
    """A front matter with these fields (empty ones left out) and the lines kept from another; empty for none."""
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in fields.items() if value]
    if rest.strip():
        lines.append(rest)
    return "\n".join(["---", *lines, "---", ""]) if lines else ""
