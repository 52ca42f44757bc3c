"""Which parts of the host's files a machine sees beneath its own disk, and which are hidden.

Must not mount or write anything: it only looks at the host and says what shall be.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

# A machine has its own of these, whatever the host has there.
OWN = ("/proc", "/sys", "/dev", "/tmp", "/run")

# Where people's files, keys and other programs' secrets are.
HIDDEN = (
    "/root",
    "/home",
    "/mnt",
    "/media",
    "/srv",
    "/var/tmp",
    "/var/mail",
    "/var/spool/cron",
    "/var/backups",
    "/var/lib/docker",
    "/var/lib/containerd",
    "/var/lib/kubelet",
    "/var/lib/postgresql",
    "/var/lib/mysql",
    "/var/log",
    "/etc/ssl/private",
    "/etc/kubernetes",
    "/etc/sudoers.d",
    "/etc/NetworkManager/system-connections",
    "/etc/wireguard",
)
# A home of such a user is not a home.
NEVER_HIDDEN = frozenset({"/", "/usr", "/etc", "/var", "/bin", "/sbin", "/lib", "/lib64", "/opt"})

# Without privileges every top-level folder is a layer of its own; a host that needs more than this
# has mounts all over its root.
LAYERS_MAX = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A folder of the host, seen at its place in the machine; what is written goes elsewhere."""

    lower: str
    """Empty for a folder that begins empty."""
    target: str
    hidden: tuple[str, ...] = ()
    """Folders below, relative to the target, that begin empty."""

    def to_json(self) -> dict[str, Any]:
        """As a value that JSON can hold."""
        return asdict(self)

    @staticmethod
    def from_json(value: dict[str, Any]) -> Layer:
        """The inverse of to_json."""
        return Layer(lower=value["lower"], target=value["target"], hidden=tuple(value["hidden"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What the caller wants hidden and kept."""

    hidden: tuple[str, ...]
    kept: tuple[str, ...]
    """Programs that a machine needs, though they lie in a hidden place (a Python in a home)."""


def view(hide: Iterable[Path], keep: Iterable[Path]) -> View:
    """The view of a twin: `hide` beside what is always hidden, `keep` where it would not show."""
    wanted = {os.path.realpath(path) for path in (*HIDDEN, *map(str, hide))} - NEVER_HIDDEN
    hidden = sorted(path for path in wanted if not _is_below(path, wanted - {path}))
    kept: list[str] = []
    for path in sorted({os.path.realpath(path) for path in keep}):
        is_covered = _is_below(path, (*hidden, *OWN)) or _is_elsewhere(path)
        if is_covered and Path(path).is_dir() and not _is_below(path, kept):
            kept.append(path)
    # A kept folder must not bring back what shall be hidden, so those below it stay listed.
    nested = [path for path in sorted(wanted) if _is_below(path, kept)]
    return View(hidden=tuple(dict.fromkeys((*hidden, *nested))), kept=tuple(kept))


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def _is_elsewhere(path: str) -> bool:
    """Whether it is on another mount than the root, and so not in the root's layer."""
    return _is_below(path, mount_points())


def mount_points() -> list[str]:
    """Where the host has something mounted, but for its root."""
    points = []
    for line in Path("/proc/self/mountinfo").read_text(errors="surrogateescape").splitlines():
        point = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), line.split()[4])
        if point != "/":
            points.append(point)
    return points


def layers(seen: View, *, is_privileged: bool) -> list[Layer]:
    """The layers of a machine's disk, in the order to mount them; the first is its root."""
    if is_privileged:
        bottom = [("/", "/")]
    else:
        # An unprivileged overlay cannot hold a folder with mounts below it, so the root is taken
        # apart into those that can.
        bottom = [("", "/"), *((path, path) for path in _parts("/", seen))]
    places = [*bottom, *((path, path) for path in seen.kept)]
    if len(places) > LAYERS_MAX:
        raise OSError(f"the host's root has mounts in too many places ({len(places)} layers)")
    targets = [target for _, target in places]
    return [
        Layer(lower=lower, target=target, hidden=tuple(_hidden_in(target, targets, seen.hidden)))
        for lower, target in places
    ]


def _hidden_in(target: str, targets: Sequence[str], hidden: Iterable[str]) -> Iterator[str]:
    """The hidden folders of which this layer, and no deeper one, is the holder."""
    for path in hidden:
        holders = [place for place in targets if place == "/" or path.startswith(f"{place}/")]
        if holders and max(holders, key=len) == target:
            yield os.path.relpath(path, target)


def _parts(folder: str, seen: View) -> Iterator[str]:
    """The folders below `folder` that hold no mount, are readable, and are not hidden."""
    points = mount_points()
    for place in sorted(Path(folder).iterdir()):
        path = str(place)
        if path in OWN or path in points or place.is_symlink() or not place.is_dir():
            continue
        if _is_below(path, seen.hidden) or not os.access(path, os.R_OK | os.X_OK):
            continue
        if any(point.startswith(f"{path}/") for point in points):
            yield from _parts(path, seen)
        else:
            yield path


def loose_links(seen: View) -> Iterator[Path]:
    """Links that lie between the layers, for a root that begins empty."""
    folders = ["/"]
    chosen = set(_parts("/", seen))
    folders += sorted({parent for path in chosen for parent in _parents(path)} - {"/"})
    for folder in folders:
        yield from (place for place in Path(folder).iterdir() if place.is_symlink())


def _parents(path: str) -> Iterator[str]:
    while path != "/":
        path = str(Path(path).parent)
        yield path
