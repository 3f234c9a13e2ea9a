"""The socket of a process that works runs, served by one thread of its own.

Whoever watches a run is sent what its live answer gained since the last line that they took. Nothing is queued for
them: a reader that is slow gets more at once, one that reads nothing gets nothing, and neither holds up the worker,
which only rings a bell. Requests are short, connections few, and bad input ends the connection that it came by.
"""

import logging
import selectors
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from marginalia_tui.agent import doors, wire
from marginalia_tui.agent.doors import NoDoor
from marginalia_tui.agent.live import LiveBuffer
from marginalia_tui.domain.errors import Invalid

log = logging.getLogger(__name__)

MOST = 32
"""Connections at once; whoever comes then finds it closed, and the rows tell them all."""
AGAIN_SECONDS = 1.0
"""After which connections are taken again when the system had no room for one."""


class _Guest:
    """One connection."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.watches = ""
        self.read = b""
        self.to_send = memoryview(b"")
        self.leaving = False
        """Whether it ends once it was told why."""
        self._sent = wire.Sent()
        self._told_nothing = False

    def watch(self, run: str) -> None:
        self.watches, self._sent, self._told_nothing = run, wire.Sent(), False

    def fill(self, live: LiveBuffer | None) -> None:
        """Takes what is new to send, when all that was to send is sent."""
        if self.to_send or not self.watches:
            return
        answer = live.look(self._sent.version) if live is not None else None
        if answer is not None:
            self._told_nothing = False
            self.to_send = memoryview(wire.write_answer(answer, self._sent))
        elif not self._told_nothing and not (live is not None and live.is_open):
            self._told_nothing = True
            self.to_send = memoryview(wire.NOTHING)


class WireServer:
    """Listens from `open` to `close`; the other methods may be called from any thread.

    Args:
        home: the folder of the studio.
        find: the live answer of a run that this process works; None when it does not.
        look: called with a run whose row another process has changed.
    """

    def __init__(self, home: Path, find: Callable[[str], LiveBuffer | None], look: Callable[[str], None]) -> None:
        self._home = home
        self._find = find
        self._look = look
        self._lock = threading.Lock()
        self._opened = False
        self._closing = False
        self._address = ""
        self._guests: dict[int, _Guest] = {}
        self._bells: tuple[socket.socket, socket.socket] | None = None
        """Where it is rung, and where that is heard."""
        self._rung = False
        self._thread: threading.Thread | None = None

    @property
    def address(self) -> str:
        """Where it listens; empty where the system refuses, and before and after."""
        return self._address

    def open(self) -> None:
        """Listens, if it does not yet."""
        with self._lock:
            if not self._opened:
                self._opened = True
                self._begin()

    def _begin(self) -> None:
        try:
            listener, path = doors.listen(self._home)
        except NoDoor as error:
            log.warning("other processes can't hurry the runs of this one: %s", error)
            return
        self._address = str(path)
        self._bells = rope, bell = socket.socketpair()
        for end in self._bells:
            end.setblocking(False)
        self._thread = threading.Thread(
            target=self._main, args=[listener, path, rope, bell], name="marginalia-wire", daemon=True
        )
        self._thread.start()

    def wake(self) -> None:
        """A live answer gained something."""
        if self._guests:
            self._ring()

    def _ring(self) -> None:
        if not self._rung and self._bells is not None:
            self._rung = True
            with suppress(OSError):  # closed, or rung so often that it is heard anyway
                self._bells[0].send(b"!")

    def close(self) -> None:
        """Listens no more; whoever watches sees it at once."""
        with self._lock:
            self._opened = self._closing = True
            thread, self._address = self._thread, ""
        if thread is not None:
            self._rung = False
            self._ring()
            if thread is not threading.current_thread():
                thread.join()

    # The thread.

    def _main(self, listener: socket.socket, path: Path, rope: socket.socket, bell: socket.socket) -> None:
        with selectors.DefaultSelector() as ready:
            ready.register(bell, selectors.EVENT_READ)
            ready.register(listener, selectors.EVENT_READ)
            try:
                while not self._closing:
                    self._turn(ready, listener, bell)
            except Exception:
                log.exception("the socket of this process broke: other processes can't hurry its runs any more")
            finally:
                doors.close(self._home, listener, path)
                for guest in list(self._guests.values()):
                    self._drop(ready, guest)
                bell.close()
                rope.close()

    def _turn(self, ready: selectors.BaseSelector, listener: socket.socket, bell: socket.socket) -> None:
        full = listener not in {key.fileobj for key in ready.get_map().values()}
        for key, events in ready.select(AGAIN_SECONDS if full else None):
            if key.fileobj is bell:
                with suppress(BlockingIOError):
                    bell.recv(4096)
                # After the reading, and before the looks: what rings in between is seen by these.
                self._rung = False
            elif key.fileobj is listener:
                self._welcome(ready, listener)
            elif events & selectors.EVENT_READ and not self._hear(key.data):
                self._drop(ready, key.data)
        if full:
            ready.register(listener, selectors.EVENT_READ)
        for guest in list(self._guests.values()):
            self._serve(ready, guest)

    def _welcome(self, ready: selectors.BaseSelector, listener: socket.socket) -> None:
        try:
            connection, _ = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return
        except OSError as error:
            log.warning("no other process is heard for a moment: %s", error)
            ready.unregister(listener)
            return
        if len(self._guests) >= MOST or not doors.is_ours(connection):
            connection.close()
            return
        connection.setblocking(False)
        self._guests[connection.fileno()] = guest = _Guest(connection)
        ready.register(connection, selectors.EVENT_READ, guest)

    def _hear(self, guest: _Guest) -> bool:
        """Reads what came; whether the connection goes on."""
        try:
            came = guest.connection.recv(4096)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if not came:
            return False
        if guest.leaving:
            return True
        *lines, guest.read = (guest.read + came).split(b"\n")
        try:
            if max(map(len, (*lines, guest.read))) > wire.LONGEST_REQUEST:
                raise Invalid(f"A line has {wire.LONGEST_REQUEST:,} bytes at most.")
            for line in lines:
                self._do(guest, wire.read_wish(line))
        except Invalid as error:
            guest.leaving, guest.watches = True, ""
            guest.to_send = memoryview(bytes(guest.to_send) + wire.refusal(error.message))
        return True

    def _do(self, guest: _Guest, wish: wire.Wish) -> None:
        if wish.do == wire.LOOK:
            self._look(wish.run)
        else:
            guest.watch(wish.run)

    def _serve(self, ready: selectors.BaseSelector, guest: _Guest) -> None:
        """Sends what there is, as much as is taken."""
        guest.fill(self._find(guest.watches) if guest.watches else None)
        try:
            while guest.to_send:
                guest.to_send = guest.to_send[guest.connection.send(guest.to_send) :]
        except BlockingIOError:
            pass
        except OSError:
            self._drop(ready, guest)
            return
        if guest.leaving and not guest.to_send:
            self._drop(ready, guest)
            return
        waits = selectors.EVENT_READ | (selectors.EVENT_WRITE if guest.to_send else 0)
        ready.modify(guest.connection, waits, guest)

    def _drop(self, ready: selectors.BaseSelector, guest: _Guest) -> None:
        self._guests.pop(guest.connection.fileno(), None)
        ready.unregister(guest.connection)
        guest.connection.close()
