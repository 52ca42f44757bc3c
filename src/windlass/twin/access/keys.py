"""RSA keys of service accounts.

Must not be imported before it is needed: cryptography is slow to load.
"""

from __future__ import annotations

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa


class RsaKeys:
    """Implements accounts.Rsa."""

    def new_key(self) -> tuple[str, str]:
        """The private and the public half, as PEM."""
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        private = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        return private.decode(), public.decode()

    def is_signed(self, public_pem: str, *, message: bytes, signature: bytes) -> bool:
        """Whether the private half has signed it (RS256)."""
        key = serialization.load_pem_public_key(public_pem.encode())
        if not isinstance(key, rsa.RSAPublicKey):
            return False
        try:
            key.verify(signature, message, padding.PKCS1v15(), hashes.SHA256())
        except InvalidSignature:
            return False
        return True
