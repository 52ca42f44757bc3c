"""What a rank on the caller's own machine inherits of the caller's environment.

Must not be all of it, which may hold secrets: where programs and libraries are found, who the user
is, how text looks, and which cloud is talked to.
"""

from __future__ import annotations

INHERITED = (
    "PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TERM VIRTUAL_ENV CONDA_PREFIX "
    "CONDA_DEFAULT_ENV PYTHONPATH LD_LIBRARY_PATH CUDA_HOME CUDA_PATH XDG_CACHE_HOME "
    "XDG_CONFIG_HOME HF_HOME TORCH_HOME JAX_PLATFORMS XLA_FLAGS OMP_NUM_THREADS "
    "SSL_CERT_FILE REQUESTS_CA_BUNDLE PIP_FIND_LINKS PIP_CERT "
    "HTTPS_PROXY https_proxy NO_PROXY no_proxy STORAGE_EMULATOR_HOST GCE_METADATA_HOST "
    "GOOGLE_APPLICATION_CREDENTIALS CLOUDSDK_CONFIG WINDLASS_CLOUD"
).split()
