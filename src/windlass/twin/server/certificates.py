"""The twin's own certificate authority, and the certificate with which it plays Google's hosts.

Must not be trusted by anything but programs that are told to: nothing is put into the machine's
own list of authorities.
"""

from __future__ import annotations

import ipaddress
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from windlass.twin.server.files import write_private

HOSTS = (
    "*.googleapis.com",
    "*.storage.googleapis.com",
    "*.google.com",
    "*.gke.goog",
    "*.pkg.dev",
    "*.gcr.io",
    "gcr.io",
    "metadata.google.internal",
    "localhost",
)
ADDRESSES = ("127.0.0.1", "::1")
AUTHORITY_LASTS = timedelta(days=1825)
CERTIFICATE_LASTS = timedelta(days=397)
RENEWED_BEFORE = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A certificate and its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey


def tls_context(folder: Path, *, now: datetime | None = None) -> ssl.SSLContext:
    """TLS for the server, with what the folder holds; made or renewed when that is due."""
    moment = now or datetime.now(UTC)
    authority = _kept(folder, "ca", moment)
    if authority is None:
        authority = _make_authority(moment)
        _keep(folder, "ca", authority)
    server = _kept(folder, "server", moment)
    if server is None or not _is_signed(server, authority) or not _is_complete(server):
        _keep(folder, "server", _make_server(authority, moment))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.crt", folder / "server.key")
    # Without this a client that can speak HTTP/2 may begin to.
    context.set_alpn_protocols(["http/1.1"])
    return context


def _kept(folder: Path, name: str, now: datetime) -> Pair | None:
    """What the folder holds; None when it is not there, broken or about to end."""
    try:
        certificate = x509.load_pem_x509_certificate((folder / f"{name}.crt").read_bytes())
        key = serialization.load_pem_private_key((folder / f"{name}.key").read_bytes(), None)
    except (OSError, ValueError):
        return None
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        return None
    if key.public_key() != certificate.public_key():
        return None
    if certificate.not_valid_after_utc - now < RENEWED_BEFORE:
        return None
    return Pair(certificate=certificate, key=key)


def _keep(folder: Path, name: str, pair: Pair) -> None:
    key = pair.key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    write_private(folder / f"{name}.key", key)
    pem = pair.certificate.public_bytes(serialization.Encoding.PEM)
    write_private(folder / f"{name}.crt", pem)


def _is_signed(server: Pair, authority: Pair) -> bool:
    try:
        server.certificate.verify_directly_issued_by(authority.certificate)
    except Exception:  # noqa: BLE001 - whatever is wrong with it, it is made anew.
        return False
    return True


def _is_complete(server: Pair) -> bool:
    names = server.certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    return set(names.value.get_values_for_type(x509.DNSName)) == set(HOSTS)


def _make_authority(now: datetime) -> Pair:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Windlass twin (this machine only)")])
    certificate = (
        _builder(name, name, key, now=now, lasts=AUTHORITY_LASTS)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(is_authority=True), critical=True)
        .sign(key, hashes.SHA256())
    )
    return Pair(certificate=certificate, key=key)


def _make_server(authority: Pair, now: datetime) -> Pair:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Windlass twin")])
    hosts: list[x509.GeneralName] = [x509.DNSName(host) for host in HOSTS]
    hosts += [x509.IPAddress(ipaddress.ip_address(address)) for address in ADDRESSES]
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key())
    certificate = (
        _builder(authority.certificate.subject, name, key, now=now, lasts=CERTIFICATE_LASTS)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(is_authority=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(hosts), critical=False)
        .add_extension(issuer, critical=False)
        .sign(authority.key, hashes.SHA256())
    )
    return Pair(certificate=certificate, key=key)


def _builder(
    issuer: x509.Name,
    subject: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    *,
    now: datetime,
    lasts: timedelta,
) -> x509.CertificateBuilder:
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    return (
        x509.CertificateBuilder()
        .issuer_name(issuer)
        .subject_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + lasts)
        .add_extension(identifier, critical=False)
    )


def _usage(*, is_authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not is_authority,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
