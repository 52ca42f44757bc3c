"""The first process of a machine: runs its scripts, starts what it is asked to, ends with it.

Must not import anything when it is up: by then the machine may have removed its own files.
"""

from __future__ import annotations

import base64
import json
import os
import selectors
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from windlass.twin.machines.inside import channel, children, scripts, users

OURS = "/run/windlass-twin"
INNER_SOCKET = f"{OURS}/control"
JOURNAL = f"{OURS}/journal"
JOURNAL_BYTES_MAX = 4 << 20
CONSOLES = ("/dev/console", "/dev/ttyS0")
LISTENER, READY = 3, 4
CHUNK = 65536
# As long as systemd waits between its last SIGTERM to all and its SIGKILL.
FINAL_WAIT_S = 90.0


class Init:
    """One machine's life."""

    def __init__(self, told: dict[str, Any]) -> None:
        self._told = told
        self._env: dict[str, str] = told["env"]
        self._selector = selectors.DefaultSelector()
        self._ends: dict[int, Callable[[int], None]] = {}
        self._status = 0
        self._is_stopping = False
        self._is_rebooting = False
        self._final_at: float | None = None

    # ---- start -----------------------------------------------------------------------------------

    def start(self) -> None:
        """Listen everywhere, say that the machine is up, and begin its script."""
        wake_in, wake_out = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wake_out, warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGPWR, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: None)
        self._watch(wake_in, lambda: self._drain(wake_in))
        outer = socket.socket(fileno=LISTENER)
        self._watch(outer, lambda: self._accept(outer))
        inner = channel.listen(INNER_SOCKET)
        Path(INNER_SOCKET).chmod(0o666)
        self._watch(inner, lambda: self._accept(inner))
        for path in CONSOLES:
            self._open_console(path)
        self._say("systemd[1]", f"Set hostname to <{self._told['hostname']}>.")
        if READY_IS_OPEN:
            os.write(READY, b"ok")
            os.close(READY)
        self._begin()

    def _open_console(self, path: str) -> None:
        # Open for both, so that it never ends when a writer goes.
        descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._watch(descriptor, lambda: self._emit(_read(descriptor)))

    def _begin(self) -> None:
        if self._told["command"]:
            self._start_command(self._told["command"])
        else:
            self.run_script("startup", lambda _: None)

    def _start_command(self, argv: list[str]) -> None:
        def ended(status: int) -> None:
            self._status = status
            self.stop()

        self._piped(argv, self._emit, ended)

    def run_script(self, which: str, then: Callable[[int], None]) -> None:
        """Run the startup or shutdown script, its lines on the console; `then` gets its status."""
        content = _decoded(self._told[f"{which}_script"])
        who = f"google_metadata_script_runner[{os.getpid()}]"
        self._say(who, f"Starting {which} scripts (version dev).")
        if content is None:
            self._say(who, f"No {which} scripts to run.")
            then(0)
            return
        self._say(who, f"Found {which}-script in metadata.")

        def ended(status: int) -> None:
            self._emit(lines.rest())
            self._say(who, f"{which}-script exit status {status}")
            self._say(who, f"Finished running {which} scripts.")
            then(status)

        lines = scripts.Lines(lambda: self._prefix(who) + f"{which}-script: ".encode())
        self._piped(scripts.argv(which, content), lambda text: self._emit(lines.feed(text)), ended)

    def _piped(
        self, argv: list[str], take: Callable[[bytes], None], ended: Callable[[int], None]
    ) -> None:
        out, far = os.pipe2(os.O_CLOEXEC)
        root = users.find("root") or users.ROOT
        null = os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC)
        env = children.environment(root, self._env, {})
        pid = children.start(children.Program(argv, root, env, "/", False), (null, far, far))
        os.close(null)
        os.close(far)
        os.set_blocking(out, False)

        is_open = True

        def read() -> None:
            nonlocal is_open
            content = _read(out)
            if content:
                take(content)
            else:
                is_open = False
                self._unwatch(out)

        def reaped(status: int) -> None:
            # Once it is closed its number may be another file's, which nobody has written to.
            while is_open and (content := _read(out)):
                take(content)
            ended(status)

        self._watch(out, read)
        self._ends[pid] = reaped

    # ---- the console -----------------------------------------------------------------------------

    def _prefix(self, who: str) -> bytes:
        stamp = time.strftime("%b %d %H:%M:%S", time.gmtime())
        return f"{stamp} {self._told['hostname']} {who}: ".encode()

    def _say(self, who: str, text: str) -> None:
        self._emit(self._prefix(who) + text.encode() + b"\n")

    def _emit(self, content: bytes) -> None:
        try:
            with Path(JOURNAL).open("ab") as journal:
                if journal.tell() < JOURNAL_BYTES_MAX:
                    journal.write(content)
        except OSError:
            # The machine has removed it, or has no room.
            pass
        view = memoryview(content)
        while view:
            view = view[os.write(1, view) :]

    # ---- requests --------------------------------------------------------------------------------

    def _accept(self, listener: socket.socket) -> None:
        sock, _ = listener.accept()
        self._watch(sock, lambda: self._serve(sock))

    def _serve(self, sock: socket.socket) -> None:
        self._unwatch(sock, is_closing=False)
        descriptors: list[int] = []
        try:
            received = channel.receive(sock)
            if received is None:
                sock.close()
                return
            message, descriptors = received
            self._answer(sock, message, descriptors)
        except (
            channel.Refused,
            users.UserRefused,
            OSError,
            KeyError,
            TypeError,
            ValueError,
        ) as exc:
            _reply(sock, {"error": str(exc)})
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def _answer(self, sock: socket.socket, message: dict[str, Any], descriptors: list[int]) -> None:
        what = message["do"]
        if what == "spawn":
            self._spawn(sock, message, descriptors)
        elif what in ("notice", "poweroff", "reboot"):
            self._is_rebooting = what == "reboot"
            _reply(sock, {"status": 0})
            self.stop()
        elif what == "script":
            self.run_script("startup", lambda status: _reply(sock, {"status": status}))
        else:
            raise channel.Refused(f"{what!r} is not something that a machine does")

    def _spawn(self, sock: socket.socket, message: dict[str, Any], descriptors: list[int]) -> None:
        can_switch = bool(self._told["can_switch_user"])
        user = users.ensure(str(message["user"]), can_switch_user=can_switch)
        extra = {str(name): str(value) for name, value in message.get("env", {}).items()}
        env = children.environment(user, self._env, extra)
        argv = [str(word) for word in message["argv"]] or [user.shell, "-l"]
        if message.get("is_command"):
            argv = [user.shell, "-c", *argv]
        cwd = str(message.get("cwd") or user.home)
        program = children.Program(argv, user, env, cwd, can_switch)
        terminal = message.get("terminal")
        if terminal:
            size = children.Terminal(int(terminal[0]), int(terminal[1]), str(terminal[2]))
            pid, near = children.start_with_terminal(program, size)
            try:
                channel.send(sock, {"terminal": True}, (near,))
            finally:
                os.close(near)
        elif len(descriptors) == 3:
            pid = children.start(program, descriptors)
        else:
            raise channel.Refused("a program needs three files or a terminal")
        self._ends[pid] = lambda status: _reply(sock, {"status": status})

    # ---- the end ---------------------------------------------------------------------------------

    def stop(self) -> None:
        """What a soft power-off does: the shutdown script, SIGTERM to all, a while, SIGKILL."""
        if self._is_stopping:
            return
        self._is_stopping = True
        if self._told["command"] and not self._ends:
            self._terminate()
        elif self._told["command"]:
            self._say("systemd[1]", "Stopping.")
            self._terminate()
        else:
            self._say("systemd-logind[1]", "Power key pressed short. System is powering down.")
            self.run_script("shutdown", lambda _: self._terminate())

    def _terminate(self) -> None:
        self._final_at = time.monotonic() + FINAL_WAIT_S
        _signal_all(signal.SIGTERM)

    def run(self) -> NoReturn:
        """Until there is nothing left to do."""
        while True:
            wait = None if self._final_at is None else 0.05
            for key, _ in self._selector.select(wait):
                # One that was closed a moment ago may have left its number to another.
                if self._selector.get_map().get(key.fd) is key:
                    key.data()
            is_alone = self._reap()
            if self._final_at is not None and (is_alone or time.monotonic() > self._final_at):
                self._finish()

    def _finish(self) -> NoReturn:
        _signal_all(signal.SIGKILL)
        if self._is_rebooting:
            self._say("systemd-shutdown[1]", "Rebooting.")
            os.set_inheritable(LISTENER, True)
            os.execv(sys.executable, [*sys.orig_argv])
        if not self._told["command"]:
            self._say("systemd-shutdown[1]", "Powering off.")
        os._exit(self._status)

    def _reap(self) -> bool:
        """Ask after every child that has ended; whether there are none left."""
        while True:
            try:
                pid, waited = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if pid == 0:
                return False
            status = os.waitstatus_to_exitcode(waited)
            ended = self._ends.pop(pid, None)
            if ended is not None:
                ended(status if status >= 0 else 128 - status)

    # ---- files to wait for -----------------------------------------------------------------------

    def _watch(self, file: int | socket.socket, ready: Callable[[], None]) -> None:
        self._selector.register(file, selectors.EVENT_READ, ready)

    def _unwatch(self, file: int | socket.socket, *, is_closing: bool = True) -> None:
        self._selector.unregister(file)
        if is_closing and isinstance(file, int):
            os.close(file)

    def _drain(self, descriptor: int) -> None:
        if signal.SIGPWR in _read(descriptor):
            self.stop()


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, CHUNK)
    except BlockingIOError:
        return b""


def _reply(sock: socket.socket, message: dict[str, Any]) -> None:
    try:
        channel.send(sock, message)
    except OSError:
        # Whoever asked has gone.
        pass
    sock.close()


def _signal_all(number: int) -> None:
    try:
        os.kill(-1, number)
    except ProcessLookupError:
        pass


def _decoded(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


# Nobody waits for a machine that only boots again.
READY_IS_OPEN = _is_open(READY)


def main() -> NoReturn:
    """Be init."""
    told = json.loads(Path(f"{OURS}/plan.json").read_text())
    os.set_inheritable(LISTENER, False)
    init = Init(told)
    init.start()
    init.run()
