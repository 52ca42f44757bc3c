"""Files that Google's clients read in the twin's folder, so that the user's own stay untouched.

Must not undo what somebody has set there with `gcloud config set`, beyond where the twin is.
"""

from __future__ import annotations

import configparser
import io
import shlex

from windlass.twin.server.files import write_if_changed
from windlass.twin.server.home import TwinHome
from windlass.twin.settings import Settings

GCLOUD = """\
#!/bin/sh
# gcloud writes SSH keys below HOME: here it gets one of the twin's own.
twin={twin}
IFS=:
for folder in $PATH; do
  if [ "$folder" != "$twin/bin" ] && [ -x "$folder/gcloud" ]; then
    exec env HOME="$twin/user" "$folder/gcloud" "$@"
  fi
done
echo "gcloud is not installed on this machine" >&2
exit 127
"""

BOTO = """\
[Credentials]
gs_service_key_file = {credentials}

[Boto]
https_validate_certificates = True
ca_certificates_file = {authority}
proxy = 127.0.0.1
proxy_port = {port}

[GSUtil]
default_project_id = {project}
state_dir = {state}
software_update_check_period = 0
"""

RCLONE = """\
[twin]
type = google cloud storage
service_account_file = {credentials}
project_number = {number}
bucket_policy_only = true
"""


def prepare_clients(home: TwinHome, port: int, settings: Settings) -> None:
    """Write them all; the port is part of some."""
    user = home.path / "user"
    user.mkdir(exist_ok=True, mode=0o700)
    script = GCLOUD.format(twin=shlex.quote(str(home.path)))
    write_if_changed(home.bin / "gcloud", script, mode=0o700)
    boto = BOTO.format(
        credentials=home.credentials,
        authority=home.authority,
        port=port,
        project=settings.project,
        state=user / "gsutil",
    )
    write_if_changed(home.boto, boto)
    rclone = home.path / "rclone.conf"
    if not rclone.exists():  # rclone itself writes to it.
        text = RCLONE.format(credentials=home.credentials, number=settings.project_number)
        write_if_changed(rclone, text)
    write_gcloud(home, port, settings)


def write_gcloud(home: TwinHome, port: int, settings: Settings) -> None:
    """gcloud's configuration. With CLOUDSDK_CONFIG alone it finds the twin by this."""
    folder = home.gcloud / "configurations"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / "config_default"
    config = configparser.ConfigParser(interpolation=None)
    try:
        config.read(path)
    except configparser.Error:
        config = configparser.ConfigParser(
            interpolation=None
        )  # It cannot be read by gcloud either.
    is_new = not config.sections()
    wanted = _gcloud(home, port)
    for section, values in [*wanted.items(), *(_gcloud_first(settings).items() if is_new else ())]:
        if not config.has_section(section):
            config.add_section(section)
        for name, value in values.items():
            config.set(section, name, value)
    text = io.StringIO()
    config.write(text)
    write_if_changed(path, text.getvalue())
    active = home.gcloud / "active_config"
    if not active.exists():
        write_if_changed(active, "default")


def _gcloud(home: TwinHome, port: int) -> dict[str, dict[str, str]]:
    """Where the twin is, and who asks."""
    return {
        "core": {"custom_ca_certs_file": str(home.authority), "check_gce_metadata": "false"},
        "auth": {"access_token_file": str(home.path / "token")},
        "proxy": {"type": "http", "address": "127.0.0.1", "port": str(port)},
    }


def _gcloud_first(settings: Settings) -> dict[str, dict[str, str]]:
    """What a new configuration begins with; the user may change it."""
    return {
        "core": {
            "project": settings.project,
            "account": settings.account,
            "disable_prompts": "true",
            "disable_usage_reporting": "true",
        },
        "survey": {"disable_prompts": "true"},
        "component_manager": {"disable_update_check": "true"},
    }
