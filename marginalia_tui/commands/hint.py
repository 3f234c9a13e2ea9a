"""What is said below a command line while it is typed: the form, the parameter under the cursor, what is wrong.

Pure and quick, like completion. An error is told as soon as it is certain: no command begins so, an argument that
is finished does not fit, there is one too many.
"""

from dataclasses import dataclass

from marginalia_tui.commands.arguments import form_so_far, misfit
from marginalia_tui.commands.definition import CommandDefinition, Form, Parameter
from marginalia_tui.commands.line import CommandLine
from marginalia_tui.commands.registry import Registry, nearest
from marginalia_tui.commands.sentences import counted, either, quoted


@dataclass(frozen=True, slots=True)
class Hint:
    """What is known of a line that is being typed."""

    command: CommandDefinition | None = None
    parameters: tuple[Parameter, ...] = ()
    """The parameters of the form that fits so far."""
    current: int | None = None
    """The place of the parameter that is being typed; None while it is the name, or behind the last."""
    error: str = ""
    """What is certainly wrong, in a sentence."""
    missing: tuple[str, ...] = ()
    """Needed arguments that are not there yet."""

    @property
    def parameter(self) -> Parameter | None:
        """The parameter that is being typed."""
        return None if self.current is None else self.parameters[self.current]


def hint(registry: Registry, source: str) -> Hint | None:
    """What to say of a line up to the cursor; None when it is no command."""
    line = CommandLine.parse(source)
    if not line.is_command:
        return None
    definition = registry.find(line.name)
    if definition is None:
        return Hint(error=_unknown(registry, line))
    form = form_of(definition, line)
    parameters = (*form.parameters, *([form.rest] if form.rest else []))
    current = line.current_argument
    place = None if current is None else current.index
    if place is not None and form.rest is not None:
        place = min(place, len(parameters) - 1)
    if place is not None and place >= len(parameters):
        place = None
    missing = tuple(each.name for each in form.parameters[len(line.arguments) :] if each.required)
    return Hint(definition, parameters, place, _error(definition, form, line), missing)


def form_of(definition: CommandDefinition, line: CommandLine) -> Form:
    """The form that a line which is being typed seems to mean."""
    finished = line.values if line.trailing_separator else line.values[:-1]
    return form_so_far(definition, finished, len(line.arguments) + line.trailing_separator)


def _unknown(registry: Registry, line: CommandLine) -> str:
    if line.typing_name and (not line.name or any(name.startswith(line.name) for name in registry.names)):
        return ""
    near = nearest(line.name, registry.names)
    if line.typing_name and near:
        return ""  # the list of completions shows them
    return f"There is no command {quoted(line.name, 40)}." + (f" Did you mean {either(near)}?" if near else "")


def _error(definition: CommandDefinition, form: Form, line: CommandLine) -> str:
    most = max(len(each.parameters) for each in definition.forms)
    if form.rest is None and len(line.arguments) > len(form.parameters):
        return (
            f"{definition.name} takes {counted(most, 'argument')}: a text with spaces goes in quotes."
            if most
            else f"{definition.name} takes no arguments."
        )
    for place, argument in enumerate(line.arguments):
        parameter = form.parameter_at(place)
        if parameter is None or parameter is form.rest:
            continue
        typing = place == len(line.arguments) - 1 and not line.trailing_separator
        if typing and (len(definition.forms) > 1 or _may_become(parameter, argument.text)):
            continue
        if argument.text == "" and not parameter.required:
            continue
        if sentence := misfit(definition.name, form, parameter, argument.text):
            return sentence
    return ""


def _may_become(parameter: Parameter, text: str) -> bool:
    """Whether more characters can still make a value of what is typed so far."""
    if parameter.allowed:
        return any(value.startswith(text) for value in parameter.allowed)
    if parameter.type == "boolean":
        return any(word.startswith(text.lower()) for word in ("true", "false", "yes", "no", "on", "off", "0", "1"))
    return text in ("", "-", "+")
