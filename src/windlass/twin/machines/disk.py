"""A machine's root: overlays of the host's folders whose upper side is the machine's own disk.

Must not follow a link that a machine has left on its disk: until the root is changed, every path
below it is walked folder by folder, so that no write of ours can land on the host.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from windlass.twin.machines import kernel
from windlass.twin.machines.layout import Layer

DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
DEVICE_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
    "ptmx": "pts/ptmx",
}
# What writes to these, a startup script for one, speaks on the serial port.
CONSOLES = ("console", "ttyS0")

READ_ONLY = ("sys", "bus", "fs", "irq", "acpi", "scsi", "sysrq-trigger", "mtrr")
MASKED = ("kcore", "keys", "timer_list", "sched_debug", "latency_stats", "kallsyms", "kmsg")

TMP_SIZE = "size=2g"
RUN_SIZE = "size=64m"
SHM_SIZE = "size=4g"

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def make_disk(folder: Path, layers: list[Layer], *, is_privileged: bool) -> None:
    """A new disk: for each layer a place for what is written, with the hidden folders empty."""
    prefix = "trusted" if is_privileged else "user"
    for number, layer in enumerate(layers):
        upper = folder / str(number) / "upper"
        upper.mkdir(parents=True)
        (folder / str(number) / "work").mkdir()
        if layer.lower:
            _take_after(layer.lower, upper)
        else:
            upper.chmod(0o755)
        for name in layer.hidden:
            _hide(layer.lower, name, upper, prefix)


def _hide(lower: str, name: str, upper: Path, prefix: str) -> None:
    at, seen = upper, Path(lower or "/nonexistent")
    for part in Path(name).parts:
        at, seen = at / part, seen / part
        if not at.exists():
            at.mkdir()
            if seen.is_dir():
                _take_after(str(seen), at)
    if lower:
        os.setxattr(at, f"{prefix}.overlay.opaque", b"y")


def _take_after(lower: str, upper: Path) -> None:
    found = Path(lower).stat()
    upper.chmod(stat.S_IMODE(found.st_mode))
    if os.geteuid() == 0:
        try:
            os.chown(upper, found.st_uid, found.st_gid)
        except OSError:
            # An owner that this user namespace has no number for.
            pass


class Root:
    """A root being built at a mount point; nothing of the machine runs yet."""

    def __init__(self, at: Path, disk: Path, *, is_privileged: bool) -> None:
        self._at = at
        self._disk = disk
        self._is_privileged = is_privileged

    def build(self, layers: list[Layer]) -> None:
        """Mount everything, and make it the root of this mount namespace."""
        kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
        depth = {layer.target: number for number, layer in enumerate(layers)}
        self._overlay(0, layers[0], str(self._at))
        # Those below come after the temporary folders, in which a kept one may lie.
        self._temporary("tmp", f"mode=1777,{TMP_SIZE}")
        self._temporary("run", f"mode=755,{RUN_SIZE}")
        for layer in layers[1:]:
            with self._folder(layer.target) as target:
                self._overlay(depth[layer.target], layer, target.path)
        self._proc()
        self._dev()
        with self._folder("sys"):
            pass
        os.chdir(self._at)
        kernel.pivot_root(".", ".")
        kernel.detach(".")
        os.chdir("/")

    def _overlay(self, number: int, layer: Layer, target: str) -> None:
        upper = self._disk / str(number)
        empty = self._disk / "empty"
        empty.mkdir(exist_ok=True)
        # By descriptor, so that no name has to be escaped and none shows in the machine's mounts.
        lower_fd = os.open(layer.lower or empty, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        upper_fd = os.open(upper / "upper", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        work_fd = os.open(upper / "work", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        data = (
            f"lowerdir=/proc/self/fd/{lower_fd},upperdir=/proc/self/fd/{upper_fd},"
            f"workdir=/proc/self/fd/{work_fd}"
        )
        if not self._is_privileged:
            data += ",userxattr"
        try:
            kernel.mount("overlay", target, "overlay", flags=kernel.MS_NODEV, data=data)
        finally:
            for descriptor in (lower_fd, upper_fd, work_fd):
                os.close(descriptor)

    def _folder(self, name: str) -> _Place:
        """A real folder of that name below the root, made if needed, walked without links."""
        descriptor = os.open(self._at, _FOLDER)
        for part in Path(name).parts:
            if part == "/":
                continue
            inner = _enter(descriptor, part)
            os.close(descriptor)
            descriptor = inner
        return _Place(descriptor)

    def _temporary(self, name: str, data: str) -> None:
        flags = kernel.MS_NODEV | kernel.MS_NOSUID
        with self._folder(name) as place:
            kernel.mount("tmpfs", place.path, "tmpfs", flags=flags, data=data)

    def _proc(self) -> None:
        flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
        with self._folder("proc") as place:
            kernel.mount("proc", place.path, "proc", flags=flags)
        proc = self._at / "proc"
        for name in MASKED:
            if (proc / name).exists():
                _bind_device("null", proc / name)
        for name in READ_ONLY:
            path = str(proc / name)
            if (proc / name).exists():
                kernel.mount(path, path, flags=kernel.MS_BIND)
                again = kernel.MS_BIND | kernel.MS_REMOUNT | kernel.MS_RDONLY
                kernel.mount("none", path, flags=again | flags)

    def _dev(self) -> None:
        with self._folder("dev") as place:
            data = "mode=755,size=1m"
            kernel.mount("tmpfs", place.path, "tmpfs", flags=kernel.MS_NOSUID, data=data)
        dev = self._at / "dev"
        for name in DEVICES:
            (dev / name).touch()
            _bind_device(name, dev / name)
        for name, target in DEVICE_LINKS.items():
            (dev / name).symlink_to(target)
        for name in CONSOLES:
            os.mkfifo(dev / name)
            (dev / name).chmod(0o666)
        (dev / "pts").mkdir()
        data = "newinstance,ptmxmode=0666,mode=0620"
        quiet = kernel.MS_NOSUID | kernel.MS_NOEXEC
        kernel.mount("devpts", str(dev / "pts"), "devpts", flags=quiet, data=data)
        (dev / "shm").mkdir()
        flags = kernel.MS_NOSUID | kernel.MS_NODEV
        kernel.mount("tmpfs", str(dev / "shm"), "tmpfs", flags=flags, data=f"mode=1777,{SHM_SIZE}")


def _bind_device(name: str, at: Path) -> None:
    """A device of the host's, which can be used but not changed: `chmod` would reach the host."""
    kernel.mount(f"/dev/{name}", str(at), flags=kernel.MS_BIND)
    again = kernel.MS_BIND | kernel.MS_REMOUNT | kernel.MS_RDONLY
    kernel.mount("none", str(at), flags=again | kernel.MS_NOSUID | kernel.MS_NOEXEC)


class _Place:
    """A folder held open, for the length of a `with`."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.path = f"/proc/self/fd/{descriptor}"

    def __enter__(self) -> _Place:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


def _enter(parent: int, name: str) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=parent)
    except FileNotFoundError:
        pass
    except OSError as exc:
        if exc.errno not in (errno.ELOOP, errno.ENOTDIR):
            raise
        # The machine has put a link or a file where a folder of the system belongs.
        os.unlink(name, dir_fd=parent)
    os.mkdir(name, 0o755, dir_fd=parent)
    return os.open(name, _FOLDER, dir_fd=parent)
