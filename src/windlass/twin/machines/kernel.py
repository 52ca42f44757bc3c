"""The few calls of Linux that Python has no name for: namespaces, mounts, capabilities.

Must not decide anything, nor import more than the standard library: the supervisor of a machine
runs it without site packages.
"""

from __future__ import annotations

import ctypes
import os
import platform

CLONE_NEWNS = 0x0002_0000
CLONE_NEWCGROUP = 0x0200_0000
CLONE_NEWUTS = 0x0400_0000
CLONE_NEWIPC = 0x0800_0000
CLONE_NEWUSER = 0x1000_0000
CLONE_NEWPID = 0x2000_0000

MS_RDONLY = 0x1
MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_NOEXEC = 0x8
MS_REMOUNT = 0x20
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x4_0000
MNT_DETACH = 0x2

PR_SET_PDEATHSIG = 1
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
SECCOMP_MODE_FILTER = 2

LANDLOCK_CREATE_RULESET = 444
LANDLOCK_RESTRICT_SELF = 446
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}

_CAPABILITY_VERSION = 0x2008_0522

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def unshare(flags: int) -> None:
    """Give this process (for processes and users: its children too) namespaces of its own."""
    _checked(_libc.unshare(ctypes.c_int(flags)), f"unshare({flags:#x})")


def mount(
    source: str, target: str, kind: str | None = None, *, flags: int = 0, data: str = ""
) -> None:
    """Mount, bind or change a mount; what is meant is said by the flags, as in mount(2)."""
    result = _libc.mount(
        source.encode(),
        target.encode(),
        None if kind is None else kind.encode(),
        ctypes.c_ulong(flags),
        data.encode() if data else None,
    )
    _checked(result, f"mount {kind or source} on {target}")


def detach(target: str) -> None:
    """Take a mount, and all that is mounted below it, out of sight."""
    _checked(_libc.umount2(target.encode(), MNT_DETACH), f"unmount {target}")


def pivot_root(new_root: str, put_old: str) -> None:
    """Make a mount the root of this mount namespace."""
    number = PIVOT_ROOT[platform.machine()]
    _checked(_libc.syscall(number, new_root.encode(), put_old.encode()), "pivot_root")


def prctl(option: int, *values: int) -> None:
    """Change something about this process."""
    padded = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    _checked(_libc.prctl(ctypes.c_int(option), *padded), f"prctl({option})")


def set_hostname(name: str) -> None:
    """Name the machine, in this UTS namespace."""
    encoded = name.encode()
    _checked(_libc.sethostname(encoded, ctypes.c_size_t(len(encoded))), "sethostname")


def set_capabilities(mask: int) -> None:
    """Keep these capabilities and no others; none are inherited but by a root's exec."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    low, high = mask & 0xFFFF_FFFF, mask >> 32
    data = (ctypes.c_uint32 * 6)(low, low, 0, high, high, 0)
    _checked(_libc.capset(header, data), "capset")


def install_filter(program: bytes) -> None:
    """Have the kernel run a seccomp filter before each system call from now on."""
    instructions = ctypes.create_string_buffer(program, len(program))

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))

    told = Program(len(program) // 8, ctypes.addressof(instructions))
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(told))


def landlock_scope(scopes: int) -> None:
    """Cut this process and its children off from what others own; an old kernel refuses."""
    attributes = (ctypes.c_uint64 * 3)(0, 0, scopes)
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    ruleset = _libc.syscall(LANDLOCK_CREATE_RULESET, attributes, size, ctypes.c_uint32(0))
    _checked(ruleset, "landlock_create_ruleset")
    try:
        _checked(
            _libc.syscall(LANDLOCK_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0)),
            "landlock_restrict_self",
        )
    finally:
        os.close(ruleset)
