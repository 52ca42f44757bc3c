"""What failed programs print is recognised."""

from __future__ import annotations

import pytest

from windlass.controller.symptoms import symptom_of

CASES = [
    ("module", 1, "", ["ModuleNotFoundError: No module named 'numpy'"], "module-missing"),
    (
        "module, python -m",
        1,
        "",
        ["python3: ImportError: No module named foo.bar"],
        "module-missing",
    ),
    (
        "module without quotes",
        1,
        "",
        ["ModuleNotFoundError: No module named yaml"],
        "module-missing",
    ),
    ("GPU memory", 1, "", ["torch.OutOfMemoryError: CUDA out of memory."], "gpu-memory"),
    ("GPU memory, then abort", -6, "", ["CUDA_ERROR_OUT_OF_MEMORY: out"], "gpu-memory"),
    ("jax memory", 1, "", ["RESOURCE_EXHAUSTED: Out of memory while"], "gpu-memory"),
    ("address", 1, "", ["OSError: [Errno 98] Address already in use"], "address-in-use"),
    ("cuda", 1, "", ["RuntimeError: No CUDA GPUs are available"], "accelerator-missing"),
    ("cuda build", 1, "", ["AssertionError: Torch not compiled with CUDA"], "accelerator-missing"),
    ("jax backend", 1, "", ["Unable to initialize backend 'cuda'"], "accelerator-missing"),
    ("no script", 2, "", ["python: can't open file '/x/train.py': [Errno 2]"], "file-missing"),
    ("disk", 1, "", ["OSError: [Errno 28] No space left on device"], "disk-full"),
    (
        "permission",
        1,
        "",
        ["PermissionError: [Errno 13] Permission denied: 'x'"],
        "permission-denied",
    ),
    ("permission of a script", 126, "", ["sh: 1: ./x: Permission denied"], "permission-denied"),
    ("not executable", 126, "", [], "not-executable"),
    ("no command", 127, "", ["sh: 1: trian: not found"], "command-missing"),
    ("killed", -9, "", [], "killed"),
    ("killed, told by a shell", 137, "", ["Killed"], "killed"),
    ("crash", -11, "", [], "crashed"),
    ("abort of a shell", 134, "", [], "crashed"),
    ("a strange signal", -64, "", [], "signalled"),
    ("terminated", -15, "", [], "signalled"),
    ("setup", 1, "setup-failed", ["boom"], "setup-failed"),
    ("setup lacks a module", 1, "setup-failed", ["No module named pip"], "setup-failed"),
    ("nccl", 1, "", ["ncclSystemError: System call failed"], "collective-failed"),
    ("unknown", 3, "", ["nothing to see"], ""),
    ("no status", None, "", [], ""),
    ("status beyond signals", 255, "", [], ""),
]


@pytest.mark.parametrize(
    ("status", "code", "lines", "name"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_the_cause_is_recognised_and_cured(status, code, lines, name):
    symptom = symptom_of(status, code, lines)
    assert symptom.name == name
    assert symptom.what and not symptom.what.endswith(".")
    assert symptom.remedy.endswith(".")


def test_the_missing_module_is_named():
    symptom = symptom_of(1, "", ["Traceback", "ModuleNotFoundError: No module named 'flash_attn'"])
    assert "flash_attn" in symptom.what
    assert "pip install flash_attn" in symptom.remedy


def test_an_error_nobody_knows_is_quoted():
    symptom = symptom_of(1, "", ["  File x", "jax.errors.TracerError: bad", ""])
    assert symptom.what == "it ended with exit status 1 after jax.errors.TracerError: bad"
