"""doctor: checks terminal, store, models and disk, and says what to do."""

import locale
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from marginalia_tui import __version__
from marginalia_tui.domain.errors import MarginaliaError
from marginalia_tui.domain.sentences import counted
from marginalia_tui.headless.output import print_json, print_text
from marginalia_tui.services.compacting import compact
from marginalia_tui.services.counting import count_all
from marginalia_tui.store.integrity import check
from marginalia_tui.store.store import Store
from marginalia_tui.store.sweep import sweep
from marginalia_tui.store.version import HEAD
from marginalia_tui.studio import Studio

LOW_DISK = 200_000_000
"""Bytes of free disk below which a word is said."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    what: str
    ok: bool
    text: str


def examine(home: Path, *, as_json: bool, old_versions: bool = False) -> int:
    """Prints what was found; exit code 1 when something has to be done.

    Args:
        home: the folder of the studio.
        as_json: whether it is printed as JSON.
        old_versions: whether the journal of a sound store is compacted, too.
    """
    findings = [*_terminal(), _disk(home), *_studio(home, old_versions)]
    well = all(finding.ok for finding in findings)
    if as_json:
        print_json(
            {
                "ok": well,
                "version": __version__,
                "home": str(home),
                "findings": [{"what": each.what, "ok": each.ok, "text": each.text} for each in findings],
            }
        )
    else:
        print_text(f"Marginalia {__version__}, home {home}")
        for each in findings:
            print_text(f"  {'ok  ' if each.ok else 'LOOK'}  {each.what}: {each.text}")
    return 0 if well else 1


def _terminal() -> list[Finding]:
    term = os.environ.get("TERM", "")
    encoding = locale.getpreferredencoding(False)
    found = [
        Finding(
            "encoding",
            encoding.replace("-", "").lower() == "utf8",
            encoding if encoding.replace("-", "").lower() == "utf8" else f"{encoding}: set LANG to a UTF-8 locale.",
        )
    ]
    if sys.stdout is not None and sys.stdout.isatty():
        size = shutil.get_terminal_size()
        wide = size.columns >= 80 and size.lines >= 24
        text = f"{term or 'unknown'}, {size.columns}x{size.lines}"
        found.append(
            Finding("terminal", wide and term not in ("", "dumb"), text + ("" if wide else ": 80x24 is wanted."))
        )
        if os.environ.get("TMUX"):
            found.append(
                Finding("tmux", True, "for Ctrl+Enter: set -g extended-keys on; to copy: set -g set-clipboard on")
            )
    return found


def _disk(home: Path) -> Finding:
    here = next(folder for folder in (home, *home.parents) if folder.exists())
    free = shutil.disk_usage(here).free
    text = f"{free / 1_000_000:,.0f} MB free"
    return Finding("disk", free > LOW_DISK, text if free > LOW_DISK else f"{text}: free some space.")


def _studio(home: Path, old_versions: bool) -> list[Finding]:
    try:
        studio = Studio(home)
    except MarginaliaError as error:
        return [Finding("store", False, error.message)]
    try:
        problems = check(studio.store)
        store = [Finding("store", False, problem) for problem in problems] or [
            Finding("store", True, f"{studio.store.path.stat().st_size:,} bytes, schema {HEAD}, no fault found")
        ]
        if old_versions:
            store += _compacted(studio.store) if not problems else [Finding("journal", False, "left as it is.")]
        from marginalia_tui.services.models import list_models

        with studio.store.read() as tx:
            models = list_models(tx)
        found = []
        for model in models:
            try:
                studio.keys.get(model)
                found.append(Finding(f"model {model.name}", True, model.base_url or "embedded"))
            except MarginaliaError as error:
                found.append(Finding(f"model {model.name}", False, error.message))
        extensions = [Finding(f"extension {name}", True, "loaded") for name in studio.extensions.loaded]
        extensions += [
            Finding(f"extension {name}", False, f"it failed to load ({error}): upgrade or uninstall it.")
            for name, error in studio.extensions.failed
        ]
        return [*store, *found, *extensions]
    finally:
        studio.close()


def _compacted(store: Store) -> list[Finding]:
    """Compacts the journal, sweeps what nobody names any more, and tells what each book and the file gained."""
    # What is not counted yet stays.
    count_all(store)
    before = _room(store)
    found = []
    for each in compact(store):
        if each.held:
            found.append(Finding(f"journal of {each.title!r}", True, f"left as it is: {each.held}"))
        elif each.versions:
            text = f"{counted(each.versions, 'old version')} of {counted(each.parts, 'part')} gone"
            found.append(Finding(f"journal of {each.title!r}", True, text))
    freed = sum(sweep(store))
    room = max(_room(store) - before, 0)
    text = f"{counted(freed, 'text or state', 'texts and states')} freed, {counted(room, 'byte')} to be used again"
    return [*found, Finding("journal", True, text if freed else "no old version can go")]


def _room(store: Store) -> int:
    """Bytes of the file that hold nothing."""
    with store.read() as tx:
        pages, size = (
            tx.connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in ("freelist_count", "page_size")
        )
    return int(pages) * int(size)
