"""The keys of model servers.

A key is in an environment variable, or in `keys.json` in the home of the studio: an object of model names and
keys that only its owner can read. Keys are in no definition, no log, no error and no `repr`.
"""

import json
import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

from marginalia_tui.domain.chat import ModelDefinition
from marginalia_tui.domain.errors import Invalid, Refused
from marginalia_tui.llm.errors import ModelFault, Reason

FILE = "keys.json"


class Keys:
    """Where keys come from.

    Args:
        home: the folder of the studio.
        environ: the environment; the one of the process unless a test gives another.
    """

    def __init__(self, home: Path, environ: Mapping[str, str] | None = None) -> None:
        self._path = home / FILE
        self._environ = os.environ if environ is None else environ

    def __repr__(self) -> str:
        return f"Keys({str(self._path)!r})"

    def get(self, definition: ModelDefinition) -> str | None:
        """The key of a model, None when it needs none as far as is known.

        Raises:
            ModelFault: a variable is named for it that is not set, and the file has none.
            Refused: the file may be read by others, or can't be read.
            Invalid: the file or the key is of the wrong form.
        """
        if definition.key_env:
            key = self._environ.get(definition.key_env, "").strip()
            if key:
                return _fit(key, f"The environment variable {definition.key_env}")
        key = self._read().get(definition.name, "")
        if key:
            return _fit(key, f"The key of {definition.name!r} in {FILE}")
        if definition.key_env:
            raise ModelFault(
                Reason.BAD_KEY,
                f"The environment variable {definition.key_env} of {definition.name!r} is not set: "
                f"set it, or put the key into {FILE}.",
            )
        return None

    def names(self) -> list[str]:
        """The models that have a key in the file.

        Raises:
            Refused: the file may be read by others, or can't be read.
            Invalid: the file is of the wrong form.
        """
        return sorted(self._read())

    def put(self, name: str, key: str) -> None:
        """Keep a key in the file, readable by its owner alone.

        Raises:
            Refused: the file may be read by others, or can't be read or written.
            Invalid: the key or the file is of the wrong form.
        """
        keys = self._read()
        keys[name] = _fit(key.strip(), "The key")
        self._write(keys)

    def remove(self, name: str) -> bool:
        """Forget a key; False when there was none.

        Raises:
            Refused: the file may be read by others, or can't be read or written.
            Invalid: the file is of the wrong form.
        """
        keys = self._read()
        if keys.pop(name, None) is None:
            return False
        self._write(keys)
        return True

    def _read(self) -> dict[str, str]:
        try:
            # Not to wait for the other end, should it be a pipe.
            handle = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise Refused(f"{self._path} can't be read ({error.strerror}): make it a file of your own.") from error
        try:
            mode = os.fstat(handle).st_mode
            if not stat.S_ISREG(mode):
                raise Refused(f"{self._path} is not a file: put the keys into a plain file.")
            if mode & 0o077:
                raise Refused(f"Others may read {self._path}: run chmod 600 on it, then its keys are used.")
            body = os.read(handle, 1_000_000)
        finally:
            os.close(handle)
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict) or not all(isinstance(key, str) for key in value.values()):
            raise Invalid(f'{self._path} is not an object of model names and keys: write {{"name": "key"}}.')
        return dict(value)

    def _write(self, keys: dict[str, str]) -> None:
        target = self._path.resolve()
        body = json.dumps(keys, ensure_ascii=False, indent=2, sort_keys=True).encode()
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            # mkstemp makes it 0600 from the start: at no moment can another read it.
            handle, name = tempfile.mkstemp(prefix=".keys-", dir=target.parent)
        except OSError as error:
            raise Refused(f"{target} can't be written ({error.strerror}): free the folder, then try again.") from error
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(body)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, target)
        except OSError as error:
            Path(name).unlink(missing_ok=True)
            raise Refused(f"{target} can't be written ({error.strerror}): free the folder, then try again.") from error


def _fit(key: str, what: str) -> str:
    """A key that can stand in a header.

    Raises:
        Invalid: it can't; the sentence does not show it.
    """
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise Invalid(f"{what} has signs that no key has: copy it again, without blanks and line breaks.")
    return key
