"""The twin's certificates: made once, kept private, renewed in time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509

from windlass.twin.server.certificates import HOSTS, tls_context

NOW = datetime(2027, 1, 1, tzinfo=UTC)
NAMES = ("ca.crt", "ca.key", "server.crt", "server.key")


def contents(folder):
    return {name: (folder / name).read_bytes() for name in NAMES}


def test_they_are_made_once(tmp_path):
    tls_context(tmp_path, now=NOW)
    before = contents(tmp_path)
    tls_context(tmp_path, now=NOW + timedelta(days=300))
    assert contents(tmp_path) == before


def test_nobody_else_can_read_the_keys(tmp_path):
    tls_context(tmp_path, now=NOW)
    assert {(tmp_path / name).stat().st_mode & 0o777 for name in NAMES} == {0o600}


@pytest.mark.parametrize(
    ("later", "changed"),
    [
        (timedelta(days=366), False),
        (timedelta(days=380), {"server.crt", "server.key"}),
        (timedelta(days=1800), set(NAMES)),
    ],
    ids=["long enough", "the certificate ends", "the authority ends"],
)
def test_what_is_about_to_end_is_renewed(tmp_path, later, changed):
    tls_context(tmp_path, now=NOW)
    before = contents(tmp_path)
    tls_context(tmp_path, now=NOW + later)
    after = contents(tmp_path)
    assert {name for name in NAMES if after[name] != before[name]} == (changed or set())


@pytest.mark.parametrize("name", NAMES)
def test_what_is_broken_is_made_anew(tmp_path, name):
    tls_context(tmp_path, now=NOW)
    (tmp_path / name).write_bytes(b"nonsense")
    tls_context(tmp_path, now=NOW)
    authority = x509.load_pem_x509_certificate((tmp_path / "ca.crt").read_bytes())
    server = x509.load_pem_x509_certificate((tmp_path / "server.crt").read_bytes())
    server.verify_directly_issued_by(authority)


def test_the_authority_can_sign_nothing_but_servers(tmp_path):
    tls_context(tmp_path, now=NOW)
    authority = x509.load_pem_x509_certificate((tmp_path / "ca.crt").read_bytes())
    constraints = authority.extensions.get_extension_for_class(x509.BasicConstraints)
    assert (constraints.value.ca, constraints.value.path_length) == (True, 0)
    server = x509.load_pem_x509_certificate((tmp_path / "server.crt").read_bytes())
    names = server.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert set(names.get_values_for_type(x509.DNSName)) == set(HOSTS)
