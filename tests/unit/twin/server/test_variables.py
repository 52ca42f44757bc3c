"""Clients are sent to the twin, and to nowhere else."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from windlass.twin.server.home import Options, Running, TwinHome
from windlass.twin.server.variables import ENDPOINTS, applied, script, variables

RUNNING = Running(pid=1, began=1.0, port=4321, started=0.0, version="1", options=Options())
# What a user with a real account may have set.
REAL = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/somewhere",
    "CLOUDSDK_CORE_PROJECT": "production",
    "CLOUDSDK_CORE_ACCOUNT": "me@company.com",
    "CLOUDSDK_ACTIVE_CONFIG_NAME": "production",
    "GOOGLE_APPLICATION_CREDENTIALS": "/somewhere/key.json",
    "GOOGLE_API_KEY": "sesame",
    "GOOGLE_OAUTH_ACCESS_TOKEN": "sesame",
    "HTTPS_PROXY": "http://proxy.company.com",
    "https_proxy": "http://proxy.company.com",
    "ALL_PROXY": "socks5://proxy.company.com",
    "SSL_CERT_DIR": "/etc/ssl/certs",
    "REQUESTS_CA_BUNDLE": "/etc/ssl/ca.crt",
    "KUBECONFIG": "/somewhere/kubeconfig",
    "BOTO_CONFIG": "/somewhere/boto",
    "RCLONE_CONFIG_PROD_TYPE": "s3",
    "STORAGE_EMULATOR_HOST": "http://elsewhere",
    "CLOUDSDK_PYTHON": "/usr/bin/python3",
    "EDITOR": "vi",
}


@pytest.fixture
def home(tmp_path) -> TwinHome:
    home = TwinHome(tmp_path / "a 'twin'")
    home.make()
    return home


@pytest.mark.parametrize("mode", ["proxy", "endpoints"])
def test_nothing_of_a_real_account_is_left(home, mode):
    result = applied(REAL, variables(home, RUNNING, mode=mode, caller=REAL))
    kept = {name for name, value in REAL.items() if result.get(name) == value}
    assert kept == {"HOME", "EDITOR", "CLOUDSDK_PYTHON"}
    assert not [value for value in result.values() if "company" in value or "sesame" in value]


def test_as_a_proxy_every_client_gets_the_port_and_the_authority(home):
    result = applied({}, variables(home, RUNNING, mode="proxy", caller={}))
    url, authority = "http://127.0.0.1:4321", str(home.path / "ca.crt")
    for name in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"):
        assert result[name] == url
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE"):
        assert result[name] == authority
    assert result["CLOUDSDK_PROXY_PORT"] == "4321"
    assert result["CLOUDSDK_CONFIG"] == str(home.path / "gcloud")
    assert result["CLOUDSDK_AUTH_ACCESS_TOKEN"] == home.token()
    assert result["GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT"] == "false"
    assert "127.0.0.1" in result["NO_PROXY"]


def test_by_endpoints_there_is_no_proxy_and_every_url_ends_in_a_slash(home):
    found = variables(home, RUNNING, mode="endpoints", caller={})
    assert found["HTTPS_PROXY"] is None
    for name in ENDPOINTS:
        url = found[f"CLOUDSDK_API_ENDPOINT_OVERRIDES_{name}"]
        assert url.startswith("http://127.0.0.1:4321/")
        assert url.endswith("/")
    assert "batch/" not in ENDPOINTS.values()


def test_the_twins_programs_come_first_and_once(home):
    once = applied(REAL, variables(home, RUNNING, mode="proxy", caller=REAL))
    twice = applied(once, variables(home, RUNNING, mode="proxy", caller=once))
    assert once["PATH"] == twice["PATH"] == f"{home.bin}:/usr/bin:/bin"


@pytest.mark.parametrize("shell", ["sh", "fish"])
def test_a_shell_that_reads_the_lines_has_the_same_environment(home, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    found = variables(home, RUNNING, mode="proxy", caller=REAL)
    caller = {**REAL, "PATH": os.environ["PATH"]}
    found["PATH"] = caller["PATH"]
    done = subprocess.run(
        [shutil.which(shell), "-c", f"{script(found, shell=shell)}\nenv -0"],
        env=caller,
        capture_output=True,
        text=True,
        check=True,
    )
    seen = dict(pair.split("=", 1) for pair in done.stdout.split("\0") if pair)
    expected = applied(caller, found)
    assert {name: seen.get(name) for name in expected} == expected
    assert not [name for name, value in found.items() if value is None and name in seen]
