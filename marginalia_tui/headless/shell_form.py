"""The form of all options of a command, asked line by line, which every terminal and screen reader can do."""

from collections.abc import Callable

from marginalia_tui.desk.sheet import Sheet, SheetField, SheetForm
from marginalia_tui.domain.visible import visible_line
from marginalia_tui.headless.shell_text import wrapped

Ask = Callable[[str], str]
"""Shows a word and reads a line; `KeyboardInterrupt` and `EOFError` give the form up."""
Tell = Callable[[str], None]
"""Shows a text."""


def fill_in(sheet: Sheet, ask: Ask, tell: Tell, width: int) -> str:
    """Asks for the form, when there are several, and for each of its options.

    An empty line leaves an option out. What does not fit is said, and asked for again.

    Returns:
        The line that the answers make.
    """
    form = _chosen(sheet, ask, tell, width)
    tell(wrapped(f"{sheet.forms[form].usage}: {sheet.forms[form].about}", width, 2))
    tell(wrapped("Enter alone leaves an option as it is, Ctrl-C gives it up.", width))
    texts = [_answered(sheet, form, place, ask, tell, width) for place in range(len(sheet.forms[form].fields))]
    return sheet.write(form, texts)


def _chosen(sheet: Sheet, ask: Ask, tell: Tell, width: int) -> int:
    if len(sheet.forms) == 1:
        return 0
    for number, each in enumerate(sheet.forms, start=1):
        tell(wrapped(f"{number}  {_described(each)}", width, 3))
    while True:
        answer = ask("Which form? ").strip()
        if answer == "":
            return sheet.form
        if answer.isascii() and answer.isdigit() and len(answer) < 4 and 1 <= int(answer) <= len(sheet.forms):
            return int(answer) - 1
        tell(wrapped(f"Type a number from 1 to {len(sheet.forms)}.", width))


def _described(form: SheetForm) -> str:
    return f"{form.usage}: {form.about}"


def _answered(sheet: Sheet, form: int, place: int, ask: Ask, tell: Tell, width: int) -> str:
    field = sheet.forms[form].fields[place]
    tell(wrapped(_about(field), width, 2))
    while True:
        text = ask(visible_line(f"{field.name}: ")) or _untouched(field)
        wrong = sheet.wrong(form, place, text)
        if not wrong:
            return text
        tell(wrapped(wrong, width))


def _untouched(field: SheetField) -> str:
    """What an empty line stands for: what holds without it."""
    return "" if field.required else field.default


def _about(field: SheetField) -> str:
    choices = [each for each in field.choices if each] or (["true", "false"] if field.kind == "boolean" else [])
    facts = [f"one of {', '.join(choices)}"] if choices else []
    if field.required:
        facts.append("needed")
    else:
        facts.append(f"without it {field.default}" if field.default else "may be left out")
    return f"{field.about} ({'; '.join(facts)})"
