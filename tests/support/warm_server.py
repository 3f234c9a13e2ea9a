"""The process that forks for `tests.support.warm`: imports what the program imports, and waits for orders.

python -m tests.support.warm_server FILE_OF_THE_SOCKET
"""

import fcntl
import gc
import importlib
import io
import json
import os
import runpy
import signal
import socket
import sys
import termios
import time
from typing import Any, TextIO

from marginalia_tui.terminal import prepare

MODULES = (
    "marginalia_tui.cli", "marginalia_tui.headless.verbs", "marginalia_tui.headless.books",
    "marginalia_tui.headless.runs", "marginalia_tui.headless.agents", "marginalia_tui.headless.models",
    "marginalia_tui.headless.shell", "marginalia_tui.headless.shell_prompt", "marginalia_tui.headless.doctor",
    "marginalia_tui.desk.opening", "marginalia_tui.desk.shelf", "marginalia_tui.app",
)  # fmt: skip


def warm_up() -> None:
    """Imports what the program imports, in an environment that it would have made before."""
    before = dict(os.environ)
    prepare(is_terminal=True)
    for name in MODULES:
        importlib.import_module(name)
    importlib.import_module("marginalia_tui.screens.keys").load_all()
    registry = importlib.import_module("marginalia_tui.commands.builtin").builtin_registry()
    assert all(command.schema for command in registry if command.for_agents)
    os.environ.clear()
    os.environ.update(before)
    gc.freeze()


def wait_for_order(orders: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Forks for each order, and comes back with it in the new process. The old one ends when nobody orders."""
    while True:
        told, files, *_ = socket.recv_fds(orders, 1 << 20, 3)
        if not told:
            sys.exit(0)
        alone, held = os.pipe()
        between = os.fork()
        if between == 0:
            pid = os.fork()
            if pid == 0:
                orders.close()
                os.close(held)
                os.read(alone, 1)  # until nobody holds it: who forked this one is gone, and its parent is the last one
                os.close(alone)
                return json.loads(told), files
            orders.send(str(pid).encode())
            os._exit(0)
        for file in files:
            os.close(file)
        os.waitpid(between, 0)
        os.close(alone)
        os.close(held)
        orders.send(b"alone")


def become(order: dict[str, Any], files: list[int]) -> None:
    """Takes on what a process that was started so would have."""
    for place, file in enumerate(files):
        os.dup2(file, place, inheritable=True)
    for file in files:
        os.close(file)
    if order["tty"]:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.environ.clear()
    os.environ.update(order["env"])
    os.chdir(order["cwd"])
    time.tzset()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.stdin, sys.stdout, sys.stderr = _stream(sys.stdin, "r"), _stream(sys.stdout, "w"), _stream(sys.stderr, "w")
    vars(sys).update(__stdin__=sys.stdin, __stdout__=sys.stdout, __stderr__=sys.stderr)


def _stream(like: TextIO, mode: str) -> TextIO:
    """The stream of the interpreter for the file that stands there now: by lines on a terminal, errors always."""
    lines = 1 if like is sys.stderr else -1
    stream = open(like.fileno(), mode, lines, "utf-8", like.errors, closefd=False)  # noqa: SIM115
    assert isinstance(stream, io.TextIOWrapper)
    return stream


def main() -> None:
    """Waits, and is then what was ordered."""
    orders = socket.socket(fileno=int(sys.argv[1]))
    orders.set_inheritable(False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warm_up()
    order, files = wait_for_order(orders)
    become(order, files)
    head, *rest = order["command"]
    if head == "-m":
        sys.argv = rest
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = [head, *rest]
        runpy.run_path(head, run_name="__main__")


if __name__ == "__main__":
    main()
