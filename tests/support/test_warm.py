import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import warm

TELLS = """
import os, sys
print(sys.argv[1:], os.getcwd(), os.environ.get("MARK"), os.getppid(), sys.stdin.read().strip())
print(sys.stdout.encoding, sys.stdout.errors, sys.stderr.errors, sys.stdin.errors, file=sys.stderr)
sys.exit(7)
"""


@pytest.fixture
def tells(tmp_path: Path) -> list[str]:
    file = tmp_path / "tells.py"
    file.write_text(TELLS)
    return [sys.executable, str(file), "a b", "ü"]


def test_what_is_started_is_as_if_it_had_been_started_alone(tells: list[str]) -> None:
    told = []
    for kind in (subprocess.Popen, warm.Popen):
        with kind(
            tells, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=warm.environment(MARK="here"),
        ) as process:  # fmt: skip
            out, err = process.communicate("in", timeout=30)
        told.append((process.returncode, out, err))
    assert told[0] == told[1]
    assert told[0][:2] == (7, f"['a b', 'ü'] {os.getcwd()} here {os.getpid()} in\n")


def test_it_is_killed_and_waited_for_like_any_other(tells: list[str]) -> None:
    with warm.Popen(tells, stdin=subprocess.PIPE) as process:
        assert process.poll() is None
        process.kill()
        assert process.wait(30) == -signal.SIGKILL
    with pytest.raises(ChildProcessError):
        os.waitpid(process.pid, os.WNOHANG)
