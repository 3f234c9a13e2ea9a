import json
import logging
import os
from pathlib import Path

import pytest

from marginalia_tui.domain.chat import ModelDefinition
from marginalia_tui.domain.errors import Invalid, Refused
from marginalia_tui.llm.errors import ModelFault, Reason
from marginalia_tui.llm.keys import Keys

MODEL = ModelDefinition(name="writer", key_env="WRITER_KEY")
SECRET = "sk-do-not-show-me"


def test_the_variable_comes_first_then_the_file(tmp_path: Path) -> None:
    Keys(tmp_path, {}).put("writer", "from-file")
    assert Keys(tmp_path, {"WRITER_KEY": " from-env\n"}).get(MODEL) == "from-env"
    assert Keys(tmp_path, {}).get(MODEL) == "from-file"
    assert Keys(tmp_path, {"WRITER_KEY": ""}).get(MODEL) == "from-file"


def test_a_model_without_a_key_needs_none(tmp_path: Path) -> None:
    assert Keys(tmp_path, {}).get(ModelDefinition(name="local")) is None


def test_a_variable_that_is_not_set_is_told(tmp_path: Path) -> None:
    with pytest.raises(ModelFault, match="WRITER_KEY") as caught:
        Keys(tmp_path, {}).get(MODEL)
    assert caught.value.fault is Reason.BAD_KEY


def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        Keys(tmp_path / "home", {}).put("writer", SECRET)
    finally:
        os.umask(old)
    file = tmp_path / "home" / "keys.json"
    assert file.stat().st_mode & 0o777 == 0o600
    assert json.loads(file.read_text()) == {"writer": SECRET}
    assert [path.name for path in file.parent.iterdir()] == ["keys.json"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o666])
def test_a_file_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    keys = Keys(tmp_path, {})
    keys.put("writer", SECRET)
    (tmp_path / "keys.json").chmod(mode)
    for act in (lambda: keys.get(MODEL), lambda: keys.put("x", "y"), lambda: keys.remove("writer")):
        with pytest.raises(Refused, match="chmod 600") as caught:
            act()
        assert SECRET not in str(caught.value)


def test_names_and_removal(tmp_path: Path) -> None:
    keys = Keys(tmp_path, {})
    assert keys.names() == []
    keys.put("b", "1234")
    keys.put("a", "5678")
    assert keys.names() == ["a", "b"]
    assert keys.remove("a")
    assert not keys.remove("a")
    assert keys.names() == ["b"]


@pytest.mark.parametrize("body", ["", "[]", '{"a": 3}', "{", '"x"', "\x00"])
def test_a_file_of_the_wrong_form_is_told(tmp_path: Path, body: str) -> None:
    file = tmp_path / "keys.json"
    file.write_text(body)
    file.chmod(0o600)
    with pytest.raises(Invalid, match="keys.json"):
        Keys(tmp_path, {}).get(MODEL)


def test_a_folder_or_a_pipe_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "keys.json").mkdir()
    with pytest.raises(Refused):
        Keys(tmp_path, {}).names()
    (tmp_path / "keys.json").rmdir()
    os.mkfifo(tmp_path / "keys.json", 0o600)
    with pytest.raises(Refused, match="plain file"):
        Keys(tmp_path, {}).names()


@pytest.mark.parametrize("key", ["", "two words", "line\nbreak", "kéy", "\x1b[0m"])
def test_a_key_that_no_header_can_carry_is_refused_unseen(tmp_path: Path, key: str) -> None:
    with pytest.raises(Invalid) as caught:
        Keys(tmp_path, {}).put("writer", key)
    assert not key or key not in str(caught.value)
    assert not (tmp_path / "keys.json").exists()


def test_keys_are_in_no_repr_and_no_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    keys = Keys(tmp_path, {"WRITER_KEY": SECRET})
    with caplog.at_level(logging.DEBUG):
        keys.get(MODEL)
    assert SECRET not in repr(keys) + str(keys) + caplog.text


def test_the_old_file_stays_when_the_new_one_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = Keys(tmp_path, {})
    keys.put("writer", "old")

    def full(source: str, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(Refused, match="No space"):
        keys.put("writer", "new")
    assert keys.get(MODEL) == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["keys.json"]
