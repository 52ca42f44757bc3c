"""Packing the agent and the runtime into one file that any Python 3.9+ can run.

Must not depend on when or where it is packed: equal sources give an equal file. It carries code
compiled for the Python that packs it, which other versions pass over: without that, every start
would compile the agent again (measured: 45 ms instead of 80 ms until everything is imported).
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import marshal
import os
import zipfile
from pathlib import Path
from typing import Iterator, List, Tuple

_PACKAGE = Path(__file__).resolve().parent.parent
_PARTS = ("agent", "runtime")
_EPOCH = (1980, 1, 1, 0, 0, 0)

Source = Tuple[str, bytes]

# Collecting garbage while modules are imported finds none; it is a twentieth of the start.
_PROGRAM = b"""\
import gc
gc.disable()
import sys
from windlass.agent.main import main
gc.enable()
sys.exit(main())
"""

# In a rank the packed `windlass` comes before an installed one, of which it is only a part.
_ROOT = b"""\
import os
import sys
__path__ += [
    f"{entry}/windlass"
    for entry in sys.path
    if f"{entry}/windlass" not in __path__ and os.path.isdir(f"{entry}/windlass")
]
"""


def build(target: Path) -> Path:
    """The packed agent in the folder `target`, made only if it is not there yet.

    Its name is a hash of everything that goes into it, so that a new version never overwrites the
    file from which a running agent still imports.
    """
    sources = list(_sources())
    path = target / f"agent-{_digest(sources)}.pyz"
    if not path.exists():
        target.mkdir(parents=True, exist_ok=True)
        staged = target / f".{path.name}.{os.getpid()}"
        staged.write_bytes(pack(sources))
        staged.replace(path)
    return path


def pack(sources: List[Source]) -> bytes:
    """The bytes of the packed agent."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, source in sources:
            _add(archive, name, source)
            _add(archive, f"{name}c", _compiled(name, source))
    return buffer.getvalue()


def _digest(sources: List[Source]) -> str:
    digest = hashlib.sha256(importlib.util.MAGIC_NUMBER)
    for name, source in sources:
        digest.update(b"%s\0%d\0" % (name.encode(), len(source)))
        digest.update(source)
    return digest.hexdigest()[:12]


def _sources() -> Iterator[Source]:
    yield "__main__.py", _PROGRAM
    yield "windlass/__init__.py", _ROOT
    for part in _PARTS:
        for path in sorted((_PACKAGE / part).rglob("*.py")):
            yield f"windlass/{path.relative_to(_PACKAGE).as_posix()}", path.read_bytes()


def _compiled(name: str, source: bytes) -> bytes:
    """A .pyc that is not checked against its source, which is packed beside it."""
    code = compile(source, name, "exec", dont_inherit=True)
    flags = (0b01).to_bytes(4, "little")
    checked = importlib.util.source_hash(source)
    # Read back once: what is written depends on who else holds the parts of the code object.
    settled = marshal.dumps(marshal.loads(marshal.dumps(code)))
    return importlib.util.MAGIC_NUMBER + flags + checked + settled


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.external_attr = 0o644 << 16
    archive.writestr(info, data)
