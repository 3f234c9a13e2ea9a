"""Starts the program without what each start costs: a process that has imported everything forks for each.

    done = warm.run(program("--home", home, "books"), capture_output=True, text=True)

What is started is a process of its own in all else: it has its streams, its environment and its terminal, is killed,
stopped and signalled like any other, ends as the interpreter does, and is our child. It is for tests of what the
program does once it runs; those of how it starts, of its streams and of what it reads from its environment at once
use `subprocess` itself.

Only Linux gives a grandchild to us when its parent is gone; elsewhere each start is a plain one.
"""

import atexit
import ctypes
import functools
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
_PR_SET_CHILD_SUBREAPER = 36
_lock = threading.Lock()


def environment(**more: str) -> dict[str, str]:
    """The environment of a program: that of the tests, without what would steer the screens."""
    left = {name: value for name, value in os.environ.items() if not name.startswith(("TEXTUAL", "COLOR", "SSH"))}
    for name in ("COLUMNS", "LINES", "NO_COLOR", "TMUX", "MARGINALIA_HOME"):
        left.pop(name, None)
    return {**left, "TERM": "xterm-256color", "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT), **more}


def _adopt(whether: bool) -> None:
    """Says whether we are given the children of processes below us that end: only while one is started."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, int(whether), 0, 0, 0):
        raise OSError(ctypes.get_errno(), "what is started can't be made a child of this process")


@functools.cache
def _server() -> socket.socket:
    """The process that forks, one of each process of tests; it ends with us."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.warm_server", str(its.fileno())],
        pass_fds=[its.fileno()], env=environment(), cwd=ROOT,
    )  # fmt: skip
    its.close()

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def start(
    command: Sequence[str], streams: Sequence[int], env: Mapping[str, str] | None = None, *, terminal: bool = False
) -> int:
    """Starts a command and answers its process, which is to be waited for.

    Args:
        command: of this Python: a module (`-m`) or a file, and its arguments.
        streams: three files: of the input, the output, the errors.
        env: its whole environment; None is ours.
        terminal: whether the input is a terminal that becomes its own.
    """
    assert command[0] == sys.executable
    order = {
        "command": [*command[1:]], "env": dict(os.environ if env is None else env), "cwd": os.getcwd(), "tty": terminal
    }  # fmt: skip
    with _lock:
        server = _server()
        _adopt(True)
        try:
            socket.send_fds(server, [json.dumps(order).encode()], streams)
            pid = int(server.recv(100))
            # The second answer comes when whoever forked it is gone, and it is ours.
            server.recv(100)
        finally:
            _adopt(False)
    return pid


class _Warm(subprocess.Popen[Any]):
    """A process of which all but its start is that of the standard library."""

    def _execute_child(self, args: Sequence[str], *given: Any) -> None:
        _, _, _, _, _, env, _, _, _, p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite, *_ = given
        ends = [end if end != -1 else own for own, end in enumerate((p2cread, c2pwrite, errwrite))]
        vars(self)["pid"] = start(args, ends, env)
        vars(self)["_child_created"] = True
        self._close_pipe_fds(p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)  # type: ignore[attr-defined]


Popen: type[subprocess.Popen[Any]] = _Warm if sys.platform == "linux" else subprocess.Popen


def run(command: Sequence[str], *, capture_output: bool = False, timeout: float, **options: Any) -> Any:
    """As `subprocess.run`, without a check of the exit code."""
    if capture_output:
        options.update(stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with Popen(command, **options) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)
