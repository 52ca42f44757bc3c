"""Preflight of places: zone, machine type and image, the way to buckets and out, buckets.

Must not make anything: the fix is a command.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from windlass.engines.networks import PREFIX, data_nics, subnetwork_of
from windlass.engines.registry import needs_of
from windlass.google.compute import Compute
from windlass.google.session import Missing
from windlass.google.storage import Buckets
from windlass.governance.preflight.subject import Subject
from windlass.planner.egress import read_usd_per_gib
from windlass.policy.findings import Finding, bad, note, ok

BUCKET_URL = "gs://"
EXAMPLE_GIB = 1000


def things(subject: Subject) -> Iterator[Finding]:
    """Whether what the plan's best offer is made of exists, for each engine that would take it."""
    for engine in subject.engines:
        needs = needs_of(engine)
        fitting = [
            one.offer
            for one in subject.wanted
            if (one.offer.slice is not None) == needs.takes_slices
        ]
        if not fitting:
            continue
        for probe in needs.probes(subject.catalog, fitting[0], subject.project):
            try:
                subject.session.get(probe.url, what=f"looking for the {probe.what}")
            except Missing:
                yield bad(engine, f"there is no {probe.what}", probe.fix)
                continue
            yield ok(engine, f"{probe.what} exists")


def networks(subject: Subject) -> Iterator[Finding]:
    """Whether machines without an external address reach buckets and the Internet."""
    compute = Compute(subject.session, subject.project)
    seen: set[tuple[str, str]] = set()
    for engine in subject.engines:
        options = subject.options(engine)
        if not needs_of(engine).is_networked or options.get("external_address"):
            continue
        network = subject.network(engine)
        for region in subject.regions:
            if (network, region) not in seen:
                seen.add((network, region))
                yield from _network(compute, engine, network, region=region, options=options)


def data_networks(subject: Subject) -> Iterator[Finding]:
    """Whether the networks are there over which GPUs of the plan's best machines talk."""
    compute = Compute(subject.session, subject.project)
    for engine in subject.engines:
        options = subject.options(engine)
        is_wanted = needs_of(engine).has_gpudirect and options.get("gpudirect", True)
        best = next((one for one in subject.wanted if one.offer.machine.gpu_direct), None)
        if not is_wanted or best is None or best.chips <= best.offer.chips:
            continue
        offer, name = best.offer, f"GPUs of {best.offer.machine.name}"
        prefix = str(options.get("data_prefix", PREFIX))
        nics = data_nics(offer.machine, prefix=prefix, region=offer.region, zone=offer.zone)
        scope = f"regions/{offer.region}"
        missing = [one for one in nics if not compute.get(scope, "subnetworks", one.subnetwork)]
        if missing:
            yield bad(
                name,
                f"{len(missing)} of {len(nics)} networks are missing in {offer.zone}",
                f"`windlass network up --region {offer.region} --for {offer.machine.name}`",
            )
        else:
            yield ok(name, f"all {len(nics)} networks are there")


def _network(
    compute: Compute, engine: str, network: str, *, region: str, options: Mapping[str, Any]
) -> Iterator[Finding]:
    subnetwork = str(options.get("subnetwork", ""))
    scope, name = f"regions/{region}", f"network {network} in {region}"
    up = f"`windlass network up --region {region}` makes one that has it"
    if network != PREFIX:
        up += f"; then write `engine: {{{engine}: {{network: {PREFIX}}}}}` into config.yaml"
    own = subnetwork_of(network, region) if network == PREFIX else network
    subnet = compute.get(scope, "subnetworks", subnetwork.rpartition("/")[2] or own)
    if subnet is None:
        yield bad(name, "there is no subnetwork", f"{up}.")
        return
    if subnet.get("privateIpGoogleAccess"):
        yield ok(name, "Private Google Access is on: machines reach buckets")
    else:
        yield bad(
            name,
            "Private Google Access is off: machines cannot reach their run folder",
            f"`gcloud compute networks subnets update {subnet['name']} --region={region} "
            f"--enable-private-ip-google-access --project={compute.project}`",
        )
    routers = compute.listed(scope, "routers")
    if any(_last(one.get("network")) == network and one.get("nats") for one in routers):
        yield ok(name, "Cloud NAT is there: `setup` reaches the Internet")
    else:
        yield bad(name, "there is no Cloud NAT: `setup` cannot reach the Internet", f"{up}.")


def run_folder(subject: Subject) -> Iterator[Finding]:
    """Whether machines can reach it at all; a run that is submitted is refused without."""
    if not subject.run_folder.startswith(BUCKET_URL):
        up = f"`windlass bucket up my-bucket --region {subject.regions[0]}`"
        yield bad(
            "run folder",
            "it is not in a bucket: no machine that is rented could reach it",
            f"{up}; then write `run_folder: gs://my-bucket` into config.yaml.",
        )


def buckets(subject: Subject) -> Iterator[Finding]:
    """Whether each is there, near the machines, and closed as it should be."""
    storage = Buckets(subject.session, subject.project)
    for url in _urls(subject):
        name = url.removeprefix(BUCKET_URL).partition("/")[0]
        bucket = storage.get(name)
        if bucket is None:
            region = subject.regions[0]
            up = f"`windlass bucket up {name} --region {region}`"
            yield bad(f"bucket {name}", "it is not there", up)
            continue
        yield from _near(subject, name, str(bucket.get("location", "")).lower())
        yield from _closed(subject, name, bucket)


def _urls(subject: Subject) -> list[str]:
    spec = subject.spec
    found = [subject.run_folder]
    if spec is not None:
        found += [*spec.data.values(), (spec.checkpoint.to if spec.checkpoint else None) or ""]
    by_bucket = {url.split("/")[2]: url for url in found if url.startswith(BUCKET_URL)}
    return list(by_bucket.values())


def _near(subject: Subject, name: str, location: str) -> Iterator[Finding]:
    for region in subject.regions:
        usd = read_usd_per_gib(location, region, subject.catalog.other_prices)
        if usd == 0.0:
            yield ok(f"bucket {name}", f"in {location}, where the run would be")
            continue
        dollars = (
            "at a price that is not known"
            if usd is None
            else (f"for {usd:.2f} USD a GiB, {usd * EXAMPLE_GIB:.0f} USD for {EXAMPLE_GIB} GiB")
        )
        yield note(
            f"bucket {name}",
            f"in {location}, the run in {region}: everything that is read crosses over, {dollars}",
            f"`windlass bucket up {name}-{region} --region {region}`, and name that one.",
        )


def _closed(subject: Subject, name: str, bucket: dict[str, Any]) -> Iterator[Finding]:
    configuration = bucket.get("iamConfiguration") or {}
    if not (configuration.get("uniformBucketLevelAccess") or {}).get("enabled"):
        yield bad(
            f"bucket {name}",
            "access is not uniform: single objects can be public",
            f"`gcloud storage buckets update gs://{name} --uniform-bucket-level-access`",
        )
    key = subject.policy.kms_key
    if key and (bucket.get("encryption") or {}).get("defaultKmsKeyName") != key:
        yield bad(
            f"bucket {name}",
            "it is not encrypted with the policy's key",
            f"`gcloud storage buckets update gs://{name} --default-encryption-key={key}`",
        )


def _last(url: Any) -> str:
    return str(url or "").rpartition("/")[2]
