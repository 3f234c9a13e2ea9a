"""A chat of SillyTavern (JSON lines) as a book: each message is a part, each swipe a swipe.

Who says it is the point of view of the part. The user's messages are parts like the others: in a chat they are half
of the story. A message whose pieces disagree is mended so that every text stays; what is broken is left out alone,
and all of it is told with its line.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from marginalia_tui.domain.errors import Invalid
from marginalia_tui.domain.items import Json
from marginalia_tui.services.exchange import chat_data as data
from marginalia_tui.services.exchange.chat_data import Problems, data_of, name_of
from marginalia_tui.services.exchange.chat_lines import is_header, objects
from marginalia_tui.services.exchange.encoding import clean
from marginalia_tui.services.exchange.manuscript import SWIPE, Chapter, Manuscript, Version, one_line

MAX_PARTS = 100_000
"""Messages and swipes of a chat."""
MAX_SWIPES = 500
"""Swipes of a message."""

MAX_TAGS = 100
"""Tags of a book."""

_TELLS_NOTHING = ("", "unused")
"""Names of the character in a header that name nobody."""
_KEYS_NAMED = 12
_NAMES_NAMED = 5
_BRANCHES = 100
"""Branches of a message that are looked at."""


@dataclass(slots=True)
class _Found:
    """What was read so far. `parts` counts swipes too."""

    header: dict[str, Any] = field(default_factory=dict)
    header_line: int = 0
    chapters: list[Chapter] = field(default_factory=list)
    parts: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    branches: dict[str, None] = field(default_factory=dict)
    """Names of the chats that branch off from this one."""
    problems: Problems = field(default_factory=Problems)


def read_chat(content: bytes, name: str) -> tuple[Manuscript, tuple[str, ...]]:
    """Reads a chat; also what the author should know about it.

    Args:
        content: the file.
        name: how it is called in a sentence.

    Raises:
        Invalid: it holds no message, or too many.
    """
    found = _Found()
    for line, each in objects(content, found.problems):
        if not found.chapters and not found.header and is_header(each):
            found.header, found.header_line = each, line
            continue
        chapter = read_message(each, line, found.problems)
        if chapter is None:
            found.problems.add("Left out, as it is no message: it has no text under 'mes'", line)
            continue
        found.chapters.append(chapter)
        found.parts += 1 + len(chapter.swipes)
        found.counts["user"] += each.get("is_user") is True
        found.counts["hidden"] += each.get("is_system") is True
        found.branches |= dict.fromkeys(_branches(each.get("extra")))
        if found.parts > MAX_PARTS:
            raise Invalid(f"{name} has more than {MAX_PARTS:,} messages and swipes: part it into several files.")
    if not found.chapters:
        raise Invalid(f"{name} is no chat that can be read: not one line of it is a message.")
    return _book(found), tuple(_notes(found))


def _branches(extra: Any) -> list[str]:
    """The chats that branch off at a message, by their names: each is a file of its own."""
    if not isinstance(extra, dict):
        return []
    names = [extra.get("bookmark_link"), *_list(extra, "branches")]
    return [name for each in names[:_BRANCHES] if (name := name_of(each))]


def _book(found: _Found) -> Manuscript:
    """The book of the messages, by the header."""
    header = dict(found.header)
    own: Mapping[str, Any] = {}
    if isinstance(metadata := header.get("chat_metadata"), dict):
        header["chat_metadata"] = {key: value for key, value in metadata.items() if key != data.OWN}
        own = metadata[data.OWN] if isinstance(metadata.get(data.OWN), dict) else {}
    character = name_of(header.get("character_name"))
    title = name_of(own.get("title")) or ("" if character in _TELLS_NOTHING else character)
    attributes = _own_attributes(own, found.header_line, found.problems)
    kept = data_of(header, found.header_line, found.problems)
    made_here = own.get(data.MADE_HERE) is True and not kept.get("chat_metadata")
    if kept and not (made_here and kept.keys() <= {"user_name", "character_name", "create_date", "chat_metadata"}):
        attributes[data.CHAT] = kept
    return Manuscript(
        title=one_line(title),
        author=name_of(own.get("author")),
        tags=tuple(sorted({name for each in _list(own, "tags")[:MAX_TAGS] if (name := name_of(each))})),
        language=name_of(own.get("language")),
        description=clean(own["description"]).strip() if isinstance(own.get("description"), str) else "",
        chapters=tuple(found.chapters),
        attributes=attributes,
    )


def _own_attributes(own: Mapping[str, Any], line: int, problems: Problems) -> dict[str, Json]:
    """The attributes that this studio wrote; those that stand for what a chat says are not for it to say."""
    given = own.get(data.ATTRIBUTES)
    if not isinstance(given, dict):
        return {}
    return data_of({key: value for key, value in given.items() if key not in (data.CHAT, SWIPE)}, line, problems)


def read_message(message: Mapping[str, Any], line: int, problems: Problems) -> Chapter | None:
    """A message as a part with its swipes; None when it has no text.

    Args:
        message: the object of its line.
        line: the number of the line, from 1.
        problems: takes what was left out or mended.
    """
    swipes = _versions(message, line, problems)
    if not swipes.said:
        return None
    if "name" in message and not isinstance(message["name"], str):
        problems.add("Kept as data alone, as 'name' is no text", line)
    if message.get("extra") is not None and not isinstance(message["extra"], dict):
        problems.add("Left out, as 'extra' is no object", line)
    taken = ("mes", "swipes", "swipe_id", "swipe_info", *data.OF_A_SWIPE)
    limit = min(data.MAX_DATA, data.MAX_SHARED // len(swipes.said))
    shared = data_of({key: each for key, each in message.items() if key not in taken}, line, problems, limit)
    maker = _Maker(line, problems, name_of(message.get("name")), shared)
    shown = {key: message[key] for key in data.OF_A_SWIPE if key in message}
    versions = [
        maker.version(each.text, shown, each.info) if number == swipes.shown else maker.version(each.text, each.info)
        for number, each in enumerate(swipes.said)
    ]
    active = versions[swipes.shown]
    return Chapter(
        **{name: getattr(active, name) for name in (*data.TURN, "text", "model", "attributes")},
        before=tuple(versions[: swipes.shown]),
        after=tuple(versions[swipes.shown + 1 :]),
    )


@dataclass(frozen=True, slots=True)
class _Said:
    """A text of a message, and what the list of swipes says of it."""

    text: str
    info: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Swipes:
    """The texts of a message in their order; `shown` is the place of the one that is read."""

    said: list[_Said]
    shown: int


def _versions(message: Mapping[str, Any], line: int, problems: Problems) -> _Swipes:
    """The texts of a message, none lost, whatever its pieces say of one another."""
    listed = _listed(message, line, problems)
    said = list(listed.values())
    wanted = message.get("swipe_id")
    place = list(listed).index(wanted) if type(wanted) is int and wanted in listed else None
    if wanted is not None and place is None and (said or wanted != 0):
        problems.add("'swipe_id' names no swipe: the text of the message is the one that is read", line)
    mes = message.get("mes")
    if not isinstance(mes, str):
        if said:
            problems.add("Taken from its swipes, as 'mes' is no text", line)
        return _Swipes(said, len(said) - 1 if place is None else place)
    if place is None:
        place = next((number for number in reversed(range(len(said))) if said[number].text == mes), None)
    if place is not None and said[place].text == mes:
        return _Swipes(said, place)
    if said:
        problems.add("Its text is none of its swipes: it was added to them, and is read", line)
    place = len(said) if place is None else place + 1
    # What a message without swipes says of its swipes is about itself.
    info = {} if said else _info(_list(message, "swipe_info"), 0, line, problems)
    return _Swipes([*said[:place], _Said(mes, info), *said[place:]], place)


def _listed(message: Mapping[str, Any], line: int, problems: Problems) -> dict[int, _Said]:
    """The swipes of a message that are texts, by their numbers in it."""
    for key in ("swipes", "swipe_info"):
        if message.get(key) is not None and not isinstance(message[key], list):
            problems.add(f"Left out, as {key!r} is no list", line)
    swipes, infos = _list(message, "swipes"), _list(message, "swipe_info")
    if len(swipes) > MAX_SWIPES:
        problems.add(f"Only the first {MAX_SWIPES:,} swipes came in", line)
    if len(infos) > max(len(swipes), 1):
        problems.add("Left out, as there is more 'swipe_info' than swipes", line)
    found: dict[int, _Said] = {}
    for number, text in enumerate(swipes[:MAX_SWIPES]):
        if isinstance(text, str):
            found[number] = _Said(text, _info(infos, number, line, problems))
        else:
            problems.add("Left out, as a swipe is no text", line)
    return found


def _list(message: Mapping[str, Any], key: str) -> list[Any]:
    value = message.get(key)
    return value if isinstance(value, list) else []


def _info(infos: list[Any], number: int, line: int, problems: Problems) -> dict[str, Any]:
    info = infos[number] if number < len(infos) else None
    if info is not None and not isinstance(info, dict):
        problems.add("Left out, as 'swipe_info' holds what is no object", line)
    # What programs write where they have nothing to say.
    return info if isinstance(info, dict) and info != {"extra": {}} else {}


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes versions of the texts of one message. `shared` is what holds for all of them."""

    line: int
    problems: Problems
    name: str
    shared: dict[str, Json]

    def version(self, text: str, says: Mapping[str, Any], info: Mapping[str, Any] | None = None) -> Version:
        """A version of a text.

        Args:
            text: as the file has it.
            says: what holds for it alone.
            info: of the version that is read, what the list of swipes says of it.
        """
        model, own, fields = _parted(says)
        shared = self.shared
        if own.get(data.MADE_HERE) is True:
            fields = {key: value for key, value in fields.items() if key != "send_date" and value != {}}
            shared = {} if shared.keys() <= {"name", "is_user", "is_system"} else shared
        pieces: dict[str, Json] = {
            data.MESSAGE: shared,
            data.VERSION: data_of(fields, self.line, self.problems),
            data.SWIPE_INFO: data_of(_with_object(info), self.line, self.problems) if info and info != says else {},
        }
        pieces = {name: piece for name, piece in pieces.items() if piece}
        attributes = _own_attributes(own, self.line, self.problems)
        if pieces:
            attributes[data.CHAT] = pieces
        turn: dict[str, Any] = {"pov": self.name}
        turn |= {name: self._turn(name, value) for name in data.TURN if isinstance(value := own.get(name), str)}
        return Version(text=clean(text), model=model, attributes=attributes, **turn)

    def _turn(self, name: str, value: str) -> str:
        if name == "title":
            return name_of(value)
        if len(value) > data.MAX_TURN:
            self.problems.add(f"Cut to {data.MAX_TURN:,} characters: {name}", self.line)
        return clean(value[: data.MAX_TURN])


def _parted(says: Mapping[str, Any]) -> tuple[str, Mapping[str, Any], dict[str, Any]]:
    """The model that wrote a text, what this studio said of it, and the rest."""
    fields = _with_object(says)
    if "extra" not in fields:
        return "", {}, fields
    extra = dict(fields["extra"])
    own: Mapping[str, Any] = {}
    if isinstance(extra.get(data.OWN), dict):
        own = extra.pop(data.OWN)
    model = name_of(extra.get("model"))
    if model and model == extra["model"]:
        del extra["model"]
    else:
        model = ""
    return model, own, {**fields, "extra": extra}


def _with_object(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields with an `extra` that is an object, or with none."""
    return {key: value for key, value in fields.items() if key != "extra" or isinstance(value, dict)}


def _notes(found: _Found) -> list[str]:
    """What the author should know: what came in, what is kept as data, what was left out or mended."""
    messages, swipes = len(found.chapters), found.parts - len(found.chapters)
    first = f"{messages:,} message{'' if messages == 1 else 's'} came in as part{'' if messages == 1 else 's'}"
    if found.counts["user"]:
        first += f", {found.counts['user']:,} of them from the user"
    if found.counts["hidden"]:
        first += f", {found.counts['hidden']:,} that the chat hides from the model"
    notes = [f"{first}."]
    if swipes:
        notes.append(f"{swipes:,} swipe{' stands' if swipes == 1 else 's stand'} beside them.")
    kept = data.key_counts(version.attributes for chapter in found.chapters for version in chapter.versions())
    if kept:
        named = ", ".join(f"{name} ({count:,})" for name, count in list(kept.items())[:_KEYS_NAMED])
        more = f" and {len(kept) - _KEYS_NAMED:,} more" if len(kept) > _KEYS_NAMED else ""
        notes.append(f"Kept as data of their parts: {named}{more}.")
    return notes + _elsewhere(found) + found.problems.sentences()


def _elsewhere(found: _Found) -> list[str]:
    """Which other files belong to the chat: a branch is a whole chat of its own."""
    notes: list[str] = []
    metadata = found.header.get("chat_metadata")
    if isinstance(metadata, dict) and (main := name_of(metadata.get("main_chat"))):
        notes.append(f"It is a branch of the chat {main!r}, which is another file.")
    if names := list(found.branches):
        named = ", ".join(map(repr, names[:_NAMES_NAMED]))
        more = f" and {len(names) - _NAMES_NAMED:,} more" if len(names) > _NAMES_NAMED else ""
        notes.append(f"Not in this file: {'its branch' if len(names) == 1 else 'its branches'} {named}{more}.")
    return notes
