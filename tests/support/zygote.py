"""A process that has imported the program and waits: each request is answered by a fork that runs it.

Started by `started`. A request is one packet: JSON of the words and the environment, and four descriptors: input,
output, errors, and a pipe into which go the id of the new process and, when it has ended, its status. It ends with
whoever started it; the processes that it made are theirs alone.
"""

import array
import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import selectors
import socket
import sys
import threading
from dataclasses import dataclass

import marginalia_tui

LARGEST = 150_000
"""Bytes of a request."""
WITHOUT = ("marginalia_tui.app", "marginalia_tui.screens", "marginalia_tui.widgets", "marginalia_tui.store.migrations")
"""What looks at the environment while it is imported, or is seldom needed."""


@dataclass
class _Request:
    words: list[str]
    environment: dict[str, str]
    folder: str
    files: list[int]


def _import_everything() -> None:
    for found in pkgutil.walk_packages(marginalia_tui.__path__, "marginalia_tui.", onerror=lambda _: None):
        if not found.name.startswith(WITHOUT) and not found.name.endswith("__main__"):
            importlib.import_module(found.name)
    assert threading.active_count() == 1
    gc.collect()
    gc.freeze()


def _receive(asking: socket.socket) -> _Request | None:
    files = array.array("i")
    packet, extra, _, _ = asking.recvmsg(LARGEST, socket.CMSG_SPACE(4 * files.itemsize))
    if not packet:
        return None
    for level, kind, sent in extra:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            files.frombytes(sent)
    words, environment, folder = json.loads(packet)
    return _Request(words, environment, folder, list(files))


def _become(request: _Request) -> None:
    """In the fork: the program, as if it had been started with these words."""
    for number, file in enumerate(request.files[:3]):
        os.dup2(file, number, inheritable=True)
    for file in request.files:
        os.close(file)
    os.environ.clear()
    os.environ.update(request.environment)
    os.chdir(request.folder)
    for name, number, mode in (("stdin", 0, "rb"), ("stdout", 1, "wb"), ("stderr", 2, "wb")):
        old = getattr(sys, name)
        raw = open(number, mode, closefd=False)  # noqa: SIM115
        lines = name == "stderr" or raw.isatty()
        setattr(sys, name, io.TextIOWrapper(raw, old.encoding, old.errors, line_buffering=lines))
        setattr(sys, f"__{name}__", getattr(sys, name))
    module, *arguments = request.words
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def main() -> None:
    """Serves until the other end is closed, then returns; returns in each fork as well, once its program has run."""
    asking = socket.socket(fileno=int(sys.argv[1]))
    _import_everything()
    asking.send(b"ready")
    selector = selectors.DefaultSelector()
    selector.register(asking, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.data is not None:
                process, told = key.data
                _, status = os.waitpid(process, 0)
                selector.unregister(key.fd)
                os.close(key.fd)
                os.write(told, b"%d\n" % status)
                os.close(told)
                continue
            request = _receive(asking)
            if request is None:
                return
            process = os.fork()
            if not process:
                for each in list(selector.get_map().values()):
                    if each.data is not None:
                        os.close(each.fd)
                        os.close(each.data[1])
                selector.close()
                asking.close()
                _become(request)
                return
            told = request.files[3]
            os.write(told, b"%d\n" % process)
            for file in request.files[:3]:
                os.close(file)
            selector.register(os.pidfd_open(process), selectors.EVENT_READ, (process, told))


if __name__ == "__main__":
    main()
