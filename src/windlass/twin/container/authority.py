"""The authority that clusters of the twin are said to have.

Must not be trusted: nobody has its key, and there is no Kubernetes API behind a cluster that could
show a certificate of it.
"""

from __future__ import annotations

import base64

PEM = """-----BEGIN CERTIFICATE-----
MIIBWTCCAQCgAwIBAgIBATAKBggqhkjOPQQDAjArMSkwJwYDVQQDDCB0d2luIG9m
IGEgY2x1c3RlciB3aXRob3V0IGFuIEFQSTAgFw0yNjAxMDEwMDAwMDBaGA8yMTI2
MDEwMTAwMDAwMFowKzEpMCcGA1UEAwwgdHdpbiBvZiBhIGNsdXN0ZXIgd2l0aG91
dCBhbiBBUEkwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATWHMFDp4ZkmBlkxD4Z
uc7vaGMLSbrjGBoh8II7XtV5AoD8JEZAcbQYQcN+Z5iZ9BLKVr6prbtf9Mwir9IC
fC44oxMwETAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0cAMEQCIGWg5i+P
AqaW6k4hVw+EfNYlC7azuRTuBtphh7xsjzvVAiAF+6KcuQNFkuh4qxy5rD0NDbJq
HXwyuZ/yilJsvY9NTg==
-----END CERTIFICATE-----
"""
CERTIFICATE = base64.b64encode(PEM.encode()).decode()
ENDPOINT = "127.0.0.1:1"
"""Nobody listens there, so that a client is told at once."""
