"""The settings: models, keys, the look, folders, limits, and what holds for books that say nothing."""

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import ContentSwitcher

from marginalia_tui.screens.base import BaseScreen
from marginalia_tui.screens.host import key_words
from marginalia_tui.screens.inheriting import COLUMNS, ask_setting, keep_setting, setting_row
from marginalia_tui.screens.keys import KeyRow, all_bindings, clashes, load_all
from marginalia_tui.widgets.rows import RowView
from marginalia_tui.widgets.table import Column, Row, Table

if TYPE_CHECKING:
    from marginalia_tui.desk.inherited import SettingLine
    from marginalia_tui.desk.opening import Desk
    from marginalia_tui.desk.settings import ModelLine, Setting
    from marginalia_tui.store.bus import Touched

SECTIONS = (
    ("models", "Models"),
    ("keys", "Keys"),
    ("look", "Look"),
    ("folders", "Folders"),
    ("limits", "Limits"),
    ("notices", "Notices"),
    ("defaults", "Defaults"),
    ("agents", "Agents"),
)


class SettingsScreen(BaseScreen):
    """The fourth mode: sections at the left, their rows at the right."""

    CSS_PATH = "settings.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "change", "change", id="settings.change"),
        Binding("n", "new", "new model", id="settings.new"),
        Binding("t", "test", "test", id="settings.test"),
        Binding("d,delete", "remove", "remove", id="settings.remove"),
        Binding("r", "reset", "reset", id="settings.reset"),
        Binding("escape,left", "sections", "sections", show=False, id="settings.sections"),
        Binding("right", "rows", "rows", show=False, id="settings.rows"),
    ]
    mode_name = "settings"

    def __init__(self) -> None:
        super().__init__()
        self._models: dict[str, ModelLine] = {}
        self._keys: dict[str, KeyRow] = {}
        self._settings: dict[str, Setting] = {}
        self._defaults: dict[str, SettingLine] = {}

    def body(self) -> ComposeResult:
        """The sections and their tables."""
        with Horizontal(id="settings"):
            yield Table([Column("Section", grow=1)], header=False, id="sections")
            with ContentSwitcher(initial="models", id="tables"):
                yield Table(
                    [
                        Column("Model", grow=4, minimum=12),
                        Column("Server", grow=2, minimum=10, drop=2),
                        Column("Id there", grow=1, minimum=8, drop=1),
                        Column("Context", "right", drop=3),
                        Column("Key", drop=4),
                    ],
                    id="models",
                )
                yield Table(
                    [
                        Column("What", grow=2, minimum=12),
                        Column("Keys", grow=1, minimum=8),
                        Column("Where", drop=2),
                        Column("Id", drop=1),
                    ],
                    id="keys",
                )
                yield Table([Column("Theme", grow=1), Column("")], id="look")
                yield Table([Column("Folder", grow=1, minimum=12), Column("Is", grow=2)], id="folders")
                yield Table([Column("Limit", grow=2, minimum=12), Column("Is", "right")], id="limits")
                yield Table([Column("Prompt", grow=1, minimum=12), Column("Is", grow=2)], id="agents")
                yield Table([Column("When a run needs you", grow=2, minimum=12), Column("Is", grow=1)], id="notices")
                yield Table(COLUMNS, id="defaults")

    @property
    def sections(self) -> Table:
        """The sections."""
        return self.query_one("#sections", Table)

    @property
    def section(self) -> str:
        """The section that is shown."""
        return self.query_one(ContentSwitcher).current or "models"

    @property
    def table(self) -> Table:
        """The rows of the section."""
        return self.query_one(f"#{self.section}", Table)

    def on_mount(self) -> None:
        """The sections have the focus."""
        super().on_mount()
        self.sections.show([Row(name, (title,)) for name, title in SECTIONS])
        self.sections.focus()
        self.say_where("")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Each section has its own actions."""
        here = {
            "new": ("models",),
            "test": ("models", "notices"),
            "remove": ("models",),
            "reset": ("keys", "folders", "limits", "agents", "notices", "defaults"),
        }
        if not self.is_mounted or self.host.desk is None:
            return action not in ("change", *here)
        return self.section in here.get(action, (self.section,))

    # Reading

    def wants(self, touched: "Touched") -> bool:
        """Another process may have changed the models; this one reads when it has changed something."""
        return touched.everything

    async def read(self, desk: "Desk") -> None:
        """Every section."""
        models = await self.call(desk.settings.models)
        settings = await self.call(desk.settings.rows)
        self._models = {line.definition.name: line for line in models}
        self._settings = {each.name: each for each in settings}
        keymap = await self.call(desk.settings.keymap)
        await self.call(load_all)
        bindings = await self.call(all_bindings)
        self._keys = {row.id: row for row in bindings}
        self.query_one("#models", Table).show([_model_row(line) for line in models])
        self.query_one("#keys", Table).show([_key_row(row, keymap) for row in self._keys.values()])
        self.query_one("#look", Table).show(self._theme_rows(), key=self.app.theme)
        for section in ("folders", "limits", "agents", "notices"):
            rows = [Row(each.name, (each.words, each.shown)) for each in settings if each.section == section]
            self.query_one(f"#{section}", Table).show(rows)
        defaults = await self.call(desk.inherited.look, "defaults")
        self._defaults = {line.name: line for line in defaults.lines}
        numbers = [_number_row(each) for each in settings if each.section == "defaults"]
        self.query_one("#defaults", Table).show([*map(setting_row, defaults.lines), *numbers])
        self.refresh_bindings()

    def _theme_rows(self) -> list[Row]:
        return [
            Row(name, (name, "in use" if name == self.app.theme else ""))
            for name in sorted(self.app.available_themes, key=lambda name: (name not in ("ink", "paper"), name))
        ]

    # Moving

    def on_row_view_highlighted(self, event: RowView.Highlighted) -> None:
        """Another section; or another theme, which is tried on at once."""
        event.stop()
        if event.view is self.sections:
            self._forget_trial()
            self.query_one(ContentSwitcher).current = event.key
            self.refresh_bindings()
        elif event.view.id == "look" and event.view.has_focus:
            self.app.theme = event.key

    def on_row_view_selected(self, event: RowView.Selected) -> None:
        """Enter: into the section, or the change of a row."""
        event.stop()
        if event.view is self.sections:
            self.table.focus()
        else:
            self.action_change()

    def action_sections(self) -> None:
        """Back to the sections."""
        self._forget_trial()
        self.sections.focus()

    def action_rows(self) -> None:
        """To the rows of the section."""
        self.table.focus()

    def on_screen_suspend(self) -> None:
        """A theme that was only tried on is taken off."""
        self._forget_trial()

    def _forget_trial(self) -> None:
        desk = self.host.desk
        if desk is not None and self.section == "look" and self.app.theme != desk.settings.theme:
            self.app.theme = desk.settings.theme
            self.query_one("#look", Table).show(self._theme_rows(), key=self.app.theme)

    # Changing

    def action_change(self) -> None:
        """Changes the row under the cursor."""
        key = self.table.current_key
        if key is None:
            return
        match self.section:
            case "models":
                self.do(self._edit_model(self._models[key]))
            case "keys":
                self.do(self._change_key(self._keys[key]))
            case "look":
                self.do(self._keep(theme=key))
            case "defaults" if key in self._defaults:
                self.do(self._change_default(self._defaults[key]))
            case _:
                self.do(self._change_setting(self._settings[key]))

    async def _keep(self, **fields: object) -> None:
        await self.call(lambda: self.desk.settings.change(**fields))
        self.host.settings_changed()
        self.look_again()

    def action_reset(self) -> None:
        """Back to what it is by itself."""
        key = self.table.current_key
        if key is None:
            return
        if self.section == "keys":
            self.do(self._set_keys(key, None))
        elif key in self._defaults:
            self.do(self._keep_default(self._defaults[key], ""))
        else:
            self.do(self._keep(**{key: self._settings[key].default}))

    # Models

    def action_new(self) -> None:
        """Adds a model."""
        self.do(self._edit_model(None))

    async def _edit_model(self, line: "ModelLine | None") -> None:
        from marginalia_tui.screens.modelform import ask_model

        if line is not None and line.embedded:
            self.host.tell("The proofreader comes with the studio: there is nothing to set up. n adds a model.")
            return
        name = await ask_model(self.host, self.desk, line)
        if name is not None:
            await self.read_again()
            self.query_one("#models", Table).show(self.query_one("#models", Table).rows, key=name)

    def action_test(self) -> None:
        """Asks the model three short questions; sends a notice to the webhook."""
        if self.section == "notices":
            self.do(self._test_webhook())
        elif line := self._models.get(self.table.current_key or ""):
            self.do(self._test(line))

    async def _test(self, line: "ModelLine") -> None:
        from marginalia_tui.screens.results import ResultScreen

        self.host.running = f"testing {line.definition.name}"
        try:
            report = await self.call(self.desk.settings.test, line.definition)
        finally:
            self.host.running = ""
        await self.host.ask(ResultScreen(report))

    async def _test_webhook(self) -> None:
        self.host.running = "sending a notice"
        try:
            await self.call(self.desk.settings.test_webhook)
        finally:
            self.host.running = ""
        self.host.tell("The webhook took the notice.")

    def action_remove(self) -> None:
        """Removes the model."""
        if line := self._models.get(self.table.current_key or ""):
            self.do(self._remove(line))

    async def _remove(self, line: "ModelLine") -> None:
        from marginalia_tui.widgets.dialogs import Confirm

        name = line.definition.name
        if line.embedded:
            self.host.tell("The proofreader comes with the studio and stays.")
        elif await self.host.ask(Confirm(f"Remove the model {name!r}, with its key?", severity="removes")):
            await self.call(self.desk.settings.remove_model, name)
            self.look_again()

    # Keys

    async def _change_key(self, row: KeyRow) -> None:
        from marginalia_tui.screens.keypress import KeyPress

        keymap = await self.call(self.desk.settings.keymap)
        rows = list(self._keys.values())

        def judge(key: str) -> str:
            others = clashes(rows, keymap, row.id, key)
            return f"also: {', '.join(self._keys[other].words for other in others)}" if others else ""

        now = _keys_shown(keymap.get(row.id, row.keys))
        key = await self.host.ask(KeyPress(f"{row.words} ({row.place})", now, judge))
        if key is not None:
            await self._set_keys(row.id, key)

    async def _set_keys(self, id: str, keys: str | None) -> None:
        keymap = dict(await self.call(self.desk.settings.keymap))
        keymap.pop(id, None)
        if keys is not None and keys != self._keys[id].keys:
            keymap[id] = keys
        await self._keep(keymap=keymap)

    # Defaults

    async def _change_default(self, line: "SettingLine") -> None:
        value = await ask_setting(self.host, self.desk, line)
        if value is not None:
            await self._keep_default(line, value)

    async def _keep_default(self, line: "SettingLine", value: str) -> None:
        await keep_setting(self.host, self.desk, "defaults", "", line, value)
        self.look_again()

    # Folders, limits and numbers

    async def _change_setting(self, setting: "Setting") -> None:
        if setting.section == "folders":
            from marginalia_tui.widgets.filepicker import FilePicker

            folder = await self.call(self.desk.settings.folder, setting.name)
            chosen = await self.host.ask(FilePicker(setting.words, folder, mode="folder"))
            value: object = None if chosen is None else str(chosen)
        else:
            from marginalia_tui.widgets.dialogs import Form
            from marginalia_tui.widgets.fields import Field

            shown = setting.shown if setting.kind == "number" else setting.value
            whole = not isinstance(setting.default, float)
            needed = setting.kind not in ("boolean", "multiline")
            field = Field("value", setting.help, setting.kind, shown, setting.choices, required=needed, whole=whole)
            answer = await self.host.ask(Form(setting.words, [field]))
            value = None if answer is None else answer["value"]
        if value is not None:
            await self._keep(**{setting.name: value})


def _model_row(line: "ModelLine") -> Row:
    model = line.definition
    key = "file" if line.has_key else f"${model.key_env}" if model.key_env else ""
    context = f"{model.context:,}" if model.context else ""
    server = "" if line.embedded else model.base_url
    return Row(model.name, (model.name, server, model.model, context, key), tones=((1, "muted"), (4, "muted")))


def _number_row(each: "Setting") -> Row:
    own = each.shown.replace(",", "") != str(each.default)
    cells = (each.words, each.shown, "here" if own else "built in")
    return Row(each.name, cells, tones=((1, "changed" if own else "plain"), (2, "muted")))


def _key_row(row: KeyRow, keymap: dict[str, str]) -> Row:
    keys = keymap.get(row.id)
    shown = _keys_shown(row.keys if keys is None else keys)
    return Row(row.id, (row.words, shown, row.place, row.id), tones=((1, "plain" if keys is None else "changed"),))


def _keys_shown(keys: str) -> str:
    return ", ".join(key_words(key.strip()) for key in keys.split(",") if key.strip())
