"""`subprocess`, for the programs of this project: a fork of a process that has imported everything already.

Each is a process of its own, as killable as any; only the import is shared, which takes most of the time of a short
verb. What is not `python -m` of ours, or has an environment that an interpreter reads at its start, is started in the
common way.
"""

import array
import atexit
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.support.zygote import LARGEST

ROOT = Path(__file__).parents[2]
OURS = ("marginalia_tui", "tests.support.killer")


class _Zygote:
    def __init__(self, environment: dict[str, str]) -> None:
        self._asking, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.zygote", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            cwd=ROOT,
            env=environment,
        )
        theirs.close()
        self._lock = threading.Lock()
        assert self._asking.recv(100) == b"ready"

    def start(self, packet: bytes, files: Sequence[int]) -> tuple[int, int]:
        """The id of the new process, and where its status comes from."""
        told, tells = os.pipe()
        with self._lock:
            rights = array.array("i", [*files, tells])
            self._asking.sendmsg([packet], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
        os.close(tells)
        line = b""
        while not line.endswith(b"\n"):
            line += os.read(told, 1)
        os.set_blocking(told, False)
        return int(line), told

    def close(self) -> None:
        self._asking.close()
        self._process.wait()


_zygotes: dict[tuple[tuple[str, str], ...], _Zygote] = {}
_lock = threading.Lock()


def _zygote(environment: dict[str, str]) -> _Zygote:
    """One for each way in which an interpreter can be set up."""
    read = ("LANG", "LC_", "PYTHON", "TZ", "PATH", "HOME", "XDG")
    key = tuple(sorted((name, value) for name, value in environment.items() if name.startswith(read)))
    with _lock:
        if key not in _zygotes:
            _zygotes[key] = made = _Zygote(environment)
            atexit.register(made.close)
        return _zygotes[key]


class Popen(subprocess.Popen[Any]):
    """A process, as `subprocess` has it."""

    _told: int | None = None

    def _execute_child(self, args: Any, *rest: Any) -> None:
        (_, before, _, more, folder, environment, _, _, shell, p2cread, _, _, c2pwrite, _, errwrite, *_) = rest
        words = (
            [] if isinstance(args, str) or any(isinstance(each, bytes) for each in args) else list(map(os.fspath, args))
        )
        env = dict(os.environ if environment is None else environment)
        packet = json.dumps([words[2:], env, os.fspath(folder or os.getcwd())]).encode()
        ours = words[:2] == [sys.executable, "-m"] and words[2] in OURS
        if (
            not ours
            or shell
            or before
            or more
            or rest[-1] != -1
            or len(packet) > LARGEST
            or not hasattr(os, "pidfd_open")
        ):
            super()._execute_child(args, *rest)  # type: ignore[misc]
            return
        files = [number if given == -1 else given for number, given in enumerate((p2cread, c2pwrite, errwrite))]
        try:
            self.pid, self._told = _zygote(env).start(packet, files)
            self._child_created = True
        finally:
            self._close_pipe_fds(*rest[9:15])  # type: ignore[attr-defined]

    def _internal_poll(self, *args: Any, **options: Any) -> int | None:
        if self._told is None:
            return super()._internal_poll(*args, **options)  # type: ignore[misc,no-any-return]
        if self.returncode is None:
            self._look()
        return self.returncode

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        if self._told is None:
            return super()._try_wait(wait_flags)  # type: ignore[misc,no-any-return]
        os.set_blocking(self._told, not wait_flags)
        return self._look()

    def _look(self) -> tuple[int, int]:
        assert self._told is not None
        try:
            said = os.read(self._told, 20)
        except BlockingIOError:
            return 0, 0
        os.close(self._told)
        status = int(said)
        self._handle_exitstatus(status)  # type: ignore[attr-defined]
        return self.pid, status


def run(
    command: Sequence[Any], *, timeout: float | None = None, check: bool = False, **options: Any
) -> subprocess.CompletedProcess[Any]:
    """`subprocess.run`."""
    if options.pop("capture_output", False):
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    given = options.pop("input", None)
    if given is not None:
        options["stdin"] = subprocess.PIPE
    with Popen(command, **options) as process:
        try:
            out, err = process.communicate(given, timeout=timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(process.args, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done
