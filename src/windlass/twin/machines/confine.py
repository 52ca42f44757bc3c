"""What root inside a machine may not do: capabilities, system calls and sockets taken away.

Must not be the only wall: namespaces, an own root and read-only kernel files come before it.
"""

from __future__ import annotations

import errno
import platform
import struct
from pathlib import Path

from windlass.twin.machines import kernel

# What root of an ordinary container has, less devices and raw sockets: CHOWN, DAC_OVERRIDE, FOWNER,
# FSETID, KILL, SETGID, SETUID, SETPCAP, NET_BIND_SERVICE, SYS_CHROOT, AUDIT_WRITE, SETFCAP.
KEPT_CAPABILITIES = frozenset({0, 1, 3, 4, 5, 6, 7, 8, 10, 18, 29, 31})

# The number of each refused call on x86_64 and on aarch64; None where there is no such call.
REFUSED: dict[str, tuple[int | None, int | None]] = {
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "setns": (308, 268),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "init_module": (175, 105),
    "delete_module": (176, 106),
    "finit_module": (313, 273),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "userfaultfd": (323, 282),
    "vhangup": (153, 58),
    "syslog": (103, 116),
    "iopl": (172, None),
    "ioperm": (173, None),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
}
# Programs that find these missing fall back to calls whose arguments can be looked at.
ABSENT = {"clone3": 435, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427}

# Audit names of the architectures, then the calls of which some arguments are refused.
ARCHITECTURES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
UNSHARE = {"x86_64": 272, "aarch64": 97}
CLONE = {"x86_64": 56, "aarch64": 220}
SOCKET = {"x86_64": 41, "aarch64": 198}
IOCTL = {"x86_64": 16, "aarch64": 29}

# Every CLONE_NEW* flag, the one for time included.
NAMESPACES = 0x7E02_0080
# Sockets to a hypervisor and to the kernel's ciphers; keystrokes pushed into a terminal.
AF_ALG, AF_VSOCK = 38, 40
TIOCSTI, TIOCLINUX = 0x5412, 0x541C

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERROR = 0x7FFF_0000, 0x0005_0000
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_X32_BIT = 0x4000_0000

_SCOPE_ABSTRACT_SOCKETS, _SCOPE_SIGNALS = 1, 2


class UnknownProcessor(Exception):
    """There is no list of refused system calls for this processor."""


def _step(code: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("HBBI", code, yes, no, value)


def _refuse_if(test: int, value: int, *, error: int) -> bytes:
    return _step(test, value, no=1) + _step(_RETURN, _ERROR | error)


def _refuse_argument(number: int, argument: int, *, test: int, values: tuple[int, ...]) -> bytes:
    inner = _step(_LOAD, _ARGUMENTS_AT + 8 * argument)
    for value in values:
        inner += _refuse_if(test, value, error=errno.EPERM)
    inner += _step(_RETURN, _ALLOW)
    return _step(_JUMP_EQUAL, number, no=len(inner) // 8) + inner


def filter_program(machine: str) -> bytes:
    """The seccomp filter for a processor, as the kernel reads it."""
    if machine not in ARCHITECTURES:
        raise UnknownProcessor(f"no list of system calls for {machine}")
    column = 0 if machine == "x86_64" else 1
    steps = [
        _step(_LOAD, _ARCHITECTURE_AT),
        # A program of another architecture (32 bit) would have other numbers.
        _step(_JUMP_EQUAL, ARCHITECTURES[machine], yes=1),
        _step(_RETURN, _ERROR | errno.ENOSYS),
        _step(_LOAD, _NUMBER_AT),
    ]
    if machine == "x86_64":
        steps.append(_refuse_if(_JUMP_AT_LEAST, _X32_BIT, error=errno.ENOSYS))
    for numbers in REFUSED.values():
        number = numbers[column]
        if number is not None:
            steps.append(_refuse_if(_JUMP_EQUAL, number, error=errno.EPERM))
    steps += [_refuse_if(_JUMP_EQUAL, number, error=errno.ENOSYS) for number in ABSENT.values()]
    steps += [
        _refuse_argument(UNSHARE[machine], 0, test=_JUMP_ANY_BIT, values=(NAMESPACES,)),
        _refuse_argument(CLONE[machine], 0, test=_JUMP_ANY_BIT, values=(NAMESPACES & ~0xFF,)),
        _refuse_argument(SOCKET[machine], 0, test=_JUMP_EQUAL, values=(AF_ALG, AF_VSOCK)),
        _refuse_argument(IOCTL[machine], 1, test=_JUMP_EQUAL, values=(TIOCSTI, TIOCLINUX)),
        _step(_RETURN, _ALLOW),
    ]
    return b"".join(steps)


def confine() -> None:
    """Take away from this process, and all that it will start, what could reach the host."""
    program = filter_program(platform.machine())
    last = int(Path("/proc/sys/kernel/cap_last_cap").read_text())
    try:
        kernel.landlock_scope(_SCOPE_ABSTRACT_SOCKETS | _SCOPE_SIGNALS)
    except OSError:
        # Kernels before 6.12: the host's abstract sockets stay within reach, which the docs say.
        pass
    kernel.install_filter(program)
    for capability in range(last + 1):
        if capability not in KEPT_CAPABILITIES:
            kernel.prctl(kernel.PR_CAPBSET_DROP, capability)
    # Root of an outer container may not have all of them to begin with.
    kernel.set_capabilities(_held() & sum(1 << kept for kept in KEPT_CAPABILITIES))


def _held() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapPrm:"):
            return int(line.split()[1], 16)
    return 0
