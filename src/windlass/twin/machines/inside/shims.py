"""Stand-ins for programs that a machine of Google's has and this one cannot have.

Must not pretend silently: each says on the console what it replaced.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from windlass.twin.machines.inside import channel, gpus, packages

OURS = "/run/windlass-twin"
CONTROL = f"{OURS}/control"
CONSOLE = "/dev/console"

# Of sudo: those with a value behind them, and those without that change what is run.
SUDO_WITH_VALUE = "ugCDpRThU"
SUDO_LOGIN = "is"


def replaced(what: str) -> None:
    """Say on the console what was not really done."""
    try:
        descriptor = os.open(CONSOLE, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            os.write(descriptor, f"windlass-twin: replaced {what}\n".encode())
        finally:
            os.close(descriptor)
    except OSError:
        # There is no console any more: the machine has removed it.
        pass


def main(argv: list[str]) -> NoReturn:
    """Be the program whose name comes first."""
    name, *words = argv
    sys.exit(PROGRAMS[name](words))


def ask(what: str) -> int:
    """Have init do something."""
    with channel.connect(CONTROL) as sock:
        channel.send(sock, {"do": what})
        received = channel.receive(sock)
    return int(received[0].get("status", 1)) if received else 0


# ---- sudo ----------------------------------------------------------------------------------------


def sudo(words: list[str]) -> int:
    """Run a command as root, or as somebody else, through init."""
    user, is_login, rest = _sudo_words(words)
    env = {}
    while rest and "=" in rest[0] and not rest[0].startswith("="):
        name, _, value = rest.pop(0).partition("=")
        env[name] = value
    if not rest and not is_login:
        sys.stderr.write("usage: sudo [-u user] command\n")
        return 1
    replaced(f"sudo: {' '.join(rest) or 'a shell'} runs as {user}")
    # What a real sudo resets are HOME and USER; the search path and the rest are the machine's.
    kept = {
        key: value for key, value in os.environ.items() if key not in ("HOME", "USER", "LOGNAME")
    }
    message = {
        "do": "spawn",
        "argv": rest,
        "user": user,
        "env": {**kept, **env},
        "cwd": str(Path.cwd()),
    }
    if os.getuid() == 0 and user == "root" and rest:
        os.environ.update(env)
        try:
            os.execvp(rest[0], rest)
        except FileNotFoundError:
            sys.stderr.write(f"sudo: {rest[0]}: command not found\n")
            return 1
    with channel.connect(CONTROL) as sock:
        channel.send(sock, message, (0, 1, 2))
        received = channel.receive(sock)
    answer = received[0] if received else {}
    if "error" in answer:
        sys.stderr.write(f"sudo: {answer['error']}\n")
    return int(answer.get("status", 1))


def _sudo_words(words: list[str]) -> tuple[str, bool, list[str]]:
    user, is_login = "root", False
    rest = list(words)
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        if word == "--":
            break
        name, _, value = word.partition("=")
        if name == "--user":
            user = value or (rest.pop(0) if rest else user)
        elif name in ("--login", "--shell"):
            is_login = True
        elif not word.startswith("--"):
            user, is_login = _sudo_letters(word[1:], rest, user, is_login)
    return user, is_login, rest


def _sudo_letters(letters: str, rest: list[str], user: str, is_login: bool) -> tuple[str, bool]:
    for at, letter in enumerate(letters):
        if letter in SUDO_LOGIN:
            is_login = True
        if letter in SUDO_WITH_VALUE:
            value = letters[at + 1 :] or (rest.pop(0) if rest else "")
            return (value if letter == "u" else user), is_login
    return user, is_login


# ---- power ---------------------------------------------------------------------------------------


def shutdown(words: list[str]) -> int:
    """Power off, or start again."""
    if "-c" in words:
        return 0
    return ask("reboot" if "-r" in words else "poweroff")


def reboot(_: list[str]) -> int:
    """Start again."""
    return ask("reboot")


def systemctl(words: list[str]) -> int:
    """Power is real; services are not."""
    verbs = [word for word in words if not word.startswith("-")]
    if verbs[:1] in (["poweroff"], ["halt"]):
        return ask("poweroff")
    if verbs[:1] == ["reboot"]:
        return ask("reboot")
    replaced(f"systemctl {' '.join(words)}: this machine has no systemd, nothing was done")
    return 0


def journalctl(words: list[str]) -> int:
    """The journal of the startup script, which is all there is."""
    replaced(f"journalctl {' '.join(words)}: it shows what init has kept")
    path = Path(f"{OURS}/journal")
    text = path.read_text(errors="replace") if path.exists() else "-- No entries --\n"
    sys.stdout.write(text)
    return 0


def script_runner(words: list[str]) -> int:
    """Run the startup script again."""
    if words[:1] != ["startup"]:
        sys.stderr.write("usage: google_metadata_script_runner startup\n")
        return 2
    return ask("script")


# ---- accelerators and packages -------------------------------------------------------------------


def nvidia_smi(words: list[str]) -> int:
    """The accelerators that the machine is said to have."""
    found = gpus.of(os.environ)
    replaced(f"nvidia-smi {' '.join(words)}".rstrip() + f": {len(found)} simulated")
    return gpus.show(found, words, sys.stdout)


def install_driver(_: list[str]) -> int:
    """There is no device that a driver could drive."""
    replaced("install-driver.sh: no driver is needed for simulated accelerators")
    sys.stdout.write("NVIDIA driver installation complete.\n")
    return 0


def apt(words: list[str]) -> int:
    """The real one, unless no package index can be reached."""
    return packages.apt(words, replaced)


PROGRAMS: dict[str, Callable[[list[str]], int]] = {
    "sudo": sudo,
    "nvidia-smi": nvidia_smi,
    "apt-get": apt,
    "apt": apt,
    "shutdown": shutdown,
    "poweroff": lambda _: ask("poweroff"),
    "halt": lambda _: ask("poweroff"),
    "reboot": reboot,
    "systemctl": systemctl,
    "journalctl": journalctl,
    "google_metadata_script_runner": script_runner,
    "install-driver": install_driver,
}
