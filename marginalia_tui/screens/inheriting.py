"""Changing a setting that books inherit, of a book, of a folder, or of the user: asked for here, kept by a command."""

from typing import TYPE_CHECKING

from marginalia_tui.widgets.table import Column, Row

if TYPE_CHECKING:
    from marginalia_tui.desk.inherited import Owner, SettingLine
    from marginalia_tui.desk.opening import Desk
    from marginalia_tui.screens.host import Host

COLUMNS = (Column("Setting", width=24), Column("Is", grow=1, minimum=12), Column("From", drop=1))
"""The columns of a table of settings."""


def setting_row(line: "SettingLine") -> Row:
    """A setting: what it is, what holds, where that comes from."""
    value, where = " ".join(line.value.split()) or "-", "here" if line.own else line.where
    return Row(line.name, (line.label, value, where), tones=((1, "changed" if line.own else "plain"), (2, "muted")))


async def ask_setting(host: "Host", desk: "Desk", line: "SettingLine") -> str | None:
    """Asks for another value; empty: it is inherited again. None: nothing is to be changed."""
    value = await _ask(host, desk, line)
    if value is None:
        return None
    value = value.strip()
    same = value == (line.value.strip() if line.own else "") or (not line.own and value == line.value.strip())
    return None if same else value


async def _ask(host: "Host", desk: "Desk", line: "SettingLine") -> str | None:
    if line.prompt or line.name == "style":
        from marginalia_tui.screens.text_editor import TextEditor

        return await host.ask(TextEditor(line.value, title=f"{line.label}: {_empty(line)}"))
    if line.name == "model":
        from marginalia_tui.widgets.dialogs import Form
        from marginalia_tui.widgets.fields import Field

        names = await host.call(desk.inherited.models)
        choices = (("", f"inherited: {line.above or 'none'}"), *((name, name) for name in names))
        field = Field("model", "Model", "choice", line.value if line.own else "", choices)
        answer = await host.ask(Form(line.label, [field]))
        return None if answer is None else str(answer["model"])
    from marginalia_tui.widgets.dialogs import Ask

    return await host.ask(Ask(line.label, line.value if line.own else "", help=f"{line.help} {_empty(line)}".strip()))


def what_holds_then(line: "SettingLine") -> str:
    """What holds when the owner says nothing any more, in one sentence."""
    shown = _shortly(line.above)
    return f"Then {shown!r} holds ({line.above_where})." if shown else "Then nothing is said."


def _empty(line: "SettingLine") -> str:
    shown = _shortly(line.above)
    return f"Empty inherits {shown!r} ({line.above_where})." if shown else "Empty: nothing is said."


def _shortly(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 30 else line[:29] + "\u2026"


async def keep_setting(host: "Host", desk: "Desk", owner: "Owner", uuid: str, line: "SettingLine", value: str) -> None:
    """Gives a setting of an owner a value; empty has it inherited again.

    Raises:
        MarginaliaError: it was refused.
    """
    if owner == "defaults":
        await host.call(desk.inherited.set_default, line, value)
        return
    name, book, arguments = change_of(owner, uuid, line, value)
    shown = await host.command_on(book, name, **arguments)
    host.tell(shown.sentence)


def change_of(owner: "Owner", uuid: str, line: "SettingLine", value: str) -> tuple[str, str | None, dict[str, object]]:
    """The command that changes a setting of a book or folder, the book that it is for, its arguments by name."""
    # A space says: inherited.
    said = value or " "
    if owner == "book":
        if line.prompt:
            return "set-book-prompts", uuid, {line.name: said}
        if line.name == "model":
            return "set-book-model", uuid, {"model": value}
        return "set-book-info", uuid, {line.name: said}
    if line.prompt:
        return "set-folder-prompt", None, {"folder": uuid, "prompt": line.name, "template": value}
    return "update-folder", None, {"folder": uuid, line.name: said}
