"""Clients' own files: the user's stay untouched, and what the user sets in the twin's stays too."""

from __future__ import annotations

import base64
import configparser
import json
import os
import subprocess

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding

from windlass.twin.access.keys import RsaKeys
from windlass.twin.server.clients import prepare_clients
from windlass.twin.server.credentials import ensure_credentials
from windlass.twin.server.home import TwinHome
from windlass.twin.settings import Settings

SETTINGS = Settings()


@pytest.fixture
def home(tmp_path) -> TwinHome:
    home = TwinHome(tmp_path / "a 'twin'")
    home.make()
    return home


def gcloud(home) -> configparser.ConfigParser:
    config = configparser.ConfigParser(interpolation=None)
    config.read(home.gcloud / "configurations" / "config_default")
    return config


def test_gcloud_finds_the_twin_by_its_configuration_alone(home):
    prepare_clients(home, 4321, SETTINGS)
    config = gcloud(home)
    assert config["proxy"]["port"] == "4321"
    assert config["core"]["custom_ca_certs_file"] == str(home.authority)
    assert config["core"]["project"] == SETTINGS.project
    assert config["auth"]["access_token_file"] == str(home.path / "token")
    assert (home.gcloud / "active_config").read_text() == "default"


def test_what_the_user_has_set_stays_and_the_port_follows(home):
    prepare_clients(home, 4321, SETTINGS)
    path = home.gcloud / "configurations" / "config_default"
    path.write_text(path.read_text().replace("twin-project", "mine") + "[compute]\nzone = z\n")
    prepare_clients(home, 4322, SETTINGS)
    config = gcloud(home)
    assert (config["core"]["project"], config["compute"]["zone"]) == ("mine", "z")
    assert config["proxy"]["port"] == "4322"


def test_a_damaged_configuration_is_written_anew(home):
    prepare_clients(home, 4321, SETTINGS)
    path = home.gcloud / "configurations" / "config_default"
    path.write_text("no section = no file\n")
    prepare_clients(home, 4321, SETTINGS)
    assert gcloud(home)["core"]["project"] == SETTINGS.project


def test_gcloud_gets_a_home_of_its_own_and_its_exit_status_is_passed_on(home, tmp_path):
    prepare_clients(home, 4321, SETTINGS)
    real = tmp_path / "real"
    real.mkdir()
    (real / "gcloud").write_text('#!/bin/sh\nprintf "%s|" "$HOME" "$@"\nexit 7\n')
    (real / "gcloud").chmod(0o755)
    path = f"{home.bin}:{tmp_path / 'nowhere'}:{real}:{os.environ['PATH']}"
    done = subprocess.run(
        [home.bin / "gcloud", "a b", "--c=*"],
        env={"PATH": path, "HOME": "/mine"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (7, f"{home.path / 'user'}|a b|--c=*|")


def test_a_machine_without_gcloud_is_told_so(home):
    prepare_clients(home, 4321, SETTINGS)
    done = subprocess.run(
        ["/bin/sh", home.bin / "gcloud"],
        env={"PATH": str(home.bin)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 127
    assert "not installed" in done.stderr


def test_the_key_is_made_once_and_again_when_it_is_damaged(home):
    first = ensure_credentials(home, SETTINGS, RsaKeys())
    assert ensure_credentials(home, SETTINGS, RsaKeys()) == first
    assert home.credentials.stat().st_mode & 0o777 == 0o600
    home.credentials.write_text("{}")
    assert ensure_credentials(home, SETTINGS, RsaKeys()) != first


def test_what_the_key_signs_is_believed(home):
    rsa = RsaKeys()
    public = ensure_credentials(home, SETTINGS, rsa)
    document = json.loads(home.credentials.read_text())
    assert document["token_uri"] == "https://oauth2.googleapis.com/token"
    assert (document["client_email"], document["private_key_id"]) == (public.email, public.key_id)
    key = serialization.load_pem_private_key(document["private_key"].encode(), None)
    message = base64.b64encode(b"anything")
    signature = key.sign(message, padding.PKCS1v15(), hashes.SHA256())
    assert rsa.is_signed(public.pem, message=message, signature=signature)
