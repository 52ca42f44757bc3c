"""The environment in which Google's clients find the twin, and nothing else.

Must not read the environment: it is given the caller's.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from windlass.twin.server.home import Running, TwinHome

MODES = ("proxy", "endpoints")
SHELLS = ("sh", "fish")

# What could lead a client to a real account, a real project or a real proxy.
FOREIGN_PREFIXES = ("CLOUDSDK_", "GOOGLE_", "GCLOUD_", "GCE_METADATA_", "RCLONE_")
# These say which Python gcloud runs on, and lead nowhere.
HARMLESS = frozenset(
    {
        "CLOUDSDK_BQ_PYTHON",
        "CLOUDSDK_GSUTIL_PYTHON",
        "CLOUDSDK_PYTHON",
        "CLOUDSDK_PYTHON_ARGS",
        "CLOUDSDK_PYTHON_SITEPACKAGES",
        "CLOUDSDK_ROOT_DIR",
    }
)
FOREIGN = (
    "ALL_PROXY",
    "all_proxy",
    "AWS_CA_BUNDLE",
    "BOTO_PATH",
    "GCLOUD_PROJECT",
    "GCP_PROJECT",
    "KUBERNETES_SERVICE_HOST",
    "KUBERNETES_SERVICE_PORT",
    "REQUESTS_CA_BUNDLE",
    "SERVICE_ACCOUNT",
    "SSL_CERT_DIR",
    "STORAGE_EMULATOR_HOST",
)
AUTHORITY_NAMES = (
    "CURL_CA_BUNDLE",
    "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
    "HTTPLIB2_CA_CERTS",
    "NODE_EXTRA_CA_CERTS",
    "RCLONE_CA_CERT",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_FILE",
)
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
# gcsfs looks at the proxy only when it is told to.
GCSFS = '{"session_kwargs": {"trust_env": true}}'
NO_PROXY = "127.0.0.1,localhost,::1"

# Services whose endpoint gcloud lets one choose, and the prefix under which the twin plays them.
# There must be none called `batch/`: the compute client sends batches of calls there.
ENDPOINTS = {
    "COMPUTE": "",
    "STORAGE": "",
    "TPU": "tpu/",
    "AIPLATFORM": "ai/",
    "CONTAINER": "container/",
    "SERVICEUSAGE": "serviceusage/",
    "CLOUDRESOURCEMANAGER": "crm/",
    "CLOUDBILLING": "billing/",
    "LOGGING": "logging/",
    "MONITORING": "monitoring/",
    "IAM": "iam/",
    "CLOUDQUOTAS": "cloudquotas/",
    "OSLOGIN": "oslogin/",
    "SECRETMANAGER": "secretmanager/",
    "BATCH": "batchapi/",
}


def variables(
    home: TwinHome, running: Running, *, mode: str, caller: Mapping[str, str]
) -> dict[str, str | None]:
    """What to set, and (None) what to forget, so that clients talk to the twin."""
    found: dict[str, str | None] = {
        name: None
        for name in sorted(caller)
        if name.startswith(FOREIGN_PREFIXES) and name not in HARMLESS
    }
    found |= dict.fromkeys(FOREIGN)
    found |= _shared(home, running)
    found |= _proxy(home, running) if mode == "proxy" else _endpoints(running)
    found["PATH"] = _path(home, caller.get("PATH", ""))
    return found


def applied(caller: Mapping[str, str], found: Mapping[str, str | None]) -> dict[str, str]:
    """The caller's environment with these changes."""
    kept = {name: value for name, value in caller.items() if name not in found}
    return kept | {name: value for name, value in found.items() if value is not None}


def script(found: Mapping[str, str | None], *, shell: str) -> str:
    """The changes as lines that a shell can read."""
    lines = []
    for name, value in found.items():
        if shell == "fish":
            words = f"set -gx {name} {_fish(value)}" if value is not None else f"set -e {name}"
            lines.append(f"{words};")
        else:
            lines.append(f"export {name}={shlex.quote(value)}" if value is not None else "")
            lines[-1] = lines[-1] or f"unset {name}"
    return "\n".join(lines) + "\n"


def _fish(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _shared(home: TwinHome, running: Running) -> dict[str, str]:
    """Who asks, for which project, and with whose files: never the user's own."""
    token = home.token()
    return {
        "CLOUDSDK_CONFIG": str(home.gcloud),
        "CLOUDSDK_AUTH_ACCESS_TOKEN": token,
        "CLOUDSDK_CORE_CHECK_GCE_METADATA": "false",
        "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "true",
        "CLOUDSDK_SURVEY_DISABLE_PROMPTS": "true",
        "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "true",
        "GOOGLE_APPLICATION_CREDENTIALS": str(home.credentials),
        "GOOGLE_CLOUD_PROJECT": running.project,
        "NO_GCE_CHECK": "true",
        "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT": "false",
        # The object_store family (obstore) speaks to the port itself.
        "GOOGLE_BASE_URL": running.url,
        "GOOGLE_BEARER_TOKEN": token,
        "GOOGLE_ALLOW_HTTP": "true",
        "RCLONE_CONFIG": str(home.path / "rclone.conf"),
        "BOTO_CONFIG": str(home.boto),
        "KUBECONFIG": str(home.kubeconfig),
        "USE_GKE_GCLOUD_AUTH_PLUGIN": "True",
        "WINDLASS_TWIN": running.url,
        # Runs are marked with it: the folder stays the same when the twin is started anew.
        "WINDLASS_CLOUD": f"twin:{home.path.resolve()}",
    }


def _proxy(home: TwinHome, running: Running) -> dict[str, str]:
    """The twin as everybody's proxy: every host is the twin, and only its authority is trusted."""
    return {
        "CLOUDSDK_PROXY_TYPE": "http",
        "CLOUDSDK_PROXY_ADDRESS": "127.0.0.1",
        "CLOUDSDK_PROXY_PORT": str(running.port),
        "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE": str(home.authority),
        **dict.fromkeys(PROXIES, running.url),
        "NO_PROXY": NO_PROXY,
        "no_proxy": NO_PROXY,
        **dict.fromkeys(AUTHORITY_NAMES, str(home.authority)),
        **dict.fromkeys(("FSSPEC_GCS", "FSSPEC_GS"), GCSFS),
    }


def _endpoints(running: Running) -> dict[str, str | None]:
    """No TLS and no proxy: each service that lets one choose is sent to the twin's port."""
    chosen = {
        f"CLOUDSDK_API_ENDPOINT_OVERRIDES_{name}": f"{running.url}/{prefix}"
        for name, prefix in ENDPOINTS.items()
    }
    return (
        dict.fromkeys(PROXIES)
        | chosen
        | {
            "CLOUDSDK_AUTH_TOKEN_HOST": f"{running.url}/oauth2/token",
            "STORAGE_EMULATOR_HOST": running.url,
            "GCE_METADATA_HOST": f"127.0.0.1:{running.port}",
        }
    )


def _path(home: TwinHome, path: str) -> str:
    """The twin's own programs first, once."""
    others = [folder for folder in path.split(":") if folder and folder != str(home.bin)]
    return ":".join([str(home.bin), *others])
