"""`windlass bucket`: the bucket of run folders.

Must not hold logic: windlass.governance does it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from windlass.cli.params import json_option

if TYPE_CHECKING:
    from windlass.assemble import Home
    from windlass.governance.bucket import Wish

DEFAULT_REGION = "us-central1"


@click.group("bucket")
def command() -> None:
    """The bucket of run folders: make it.

    Rented machines and this machine meet in a bucket: source, heartbeats, logs, checkpoints.
    """


@command.command("up")
@click.argument("name", required=False)
@click.option("--region", metavar="R", default=DEFAULT_REGION, show_default=True)
@click.option(
    "--delete-after", metavar="DURATION", help="Delete what is of runs when it is so old: `90d`."
)
@click.option("--yes", "is_yes", is_flag=True, help="Do not ask.")
@json_option
def up(name: str | None, region: str, delete_after: str | None, is_yes: bool, is_json: bool) -> int:
    """Make the bucket NAME, or the one of `run_folder`, unless it is there.

    Access is uniform, nobody can make it public, unfinished uploads go after a week, and it is
    labelled, so that `windlass reap` knows it.
    """
    from windlass.assemble import open_home
    from windlass.cli.questions import is_sure
    from windlass.google.storage import Buckets
    from windlass.governance.bucket import found, make

    home = open_home()
    wish = _wish(home, name, region, delete_after)
    buckets = Buckets(home.google_session, home.project)
    there = found(buckets, wish.name)
    if there is not None:
        place = str(there.get("location", "")).lower()
        _tell(wish, done="there", region=place, is_json=is_json)
        return 0
    if not is_sure(f"Make gs://{wish.name} in {wish.region}?", is_yes=is_yes):
        return 1
    make(buckets, wish)
    _tell(wish, done="made", region=wish.region, is_json=is_json)
    return 0


def _wish(home: Home, name: str | None, region: str, delete_after: str | None) -> Wish:
    from windlass.errors import OptionRefused
    from windlass.governance.bucket import Wish

    folder = home.config.run_folder or ""
    configured, _, prefix = folder.removeprefix("gs://").partition("/")
    if not folder.startswith("gs://"):
        configured = prefix = ""
    chosen = (name or configured).removeprefix("gs://").partition("/")[0]
    if not chosen:
        raise OptionRefused(
            "nobody has said which bucket",
            remedy="Write `windlass bucket up my-bucket`, and `run_folder: gs://my-bucket` into "
            f"{home.path / 'config.yaml'}.",
        )
    if region not in {zone.rpartition("-")[0] for zone in home.catalog.zones}:
        raise OptionRefused(
            f"there is no region {region}",
            remedy="`windlass catalog offers` shows where machines are.",
        )
    is_configured = chosen == configured
    return Wish(
        name=chosen,
        region=region,
        runs_prefix=f"{prefix.strip('/')}/runs/" if is_configured and prefix else "runs/",
        delete_after_s=_seconds(delete_after),
        kms_key=home.policy.kms_key if home.policy is not None else "",
    )


def _seconds(text: str | None) -> float | None:
    from windlass.errors import OptionRefused
    from windlass.spec.refused import Refused
    from windlass.spec.units import duration_s

    if text is None:
        return None
    try:
        return duration_s(text)
    except Refused as refused:
        raise OptionRefused(f"--delete-after: {refused}", remedy="Write `90d`.") from refused


def _tell(wish: Wish, *, done: str, region: str, is_json: bool) -> None:
    if is_json:
        from windlass.cli.documents import print_json

        document: dict[str, Any] = {"done": done, "bucket": wish.name, "region": region}
        print_json(document)
        return
    sys.stdout.write(f"{done} gs://{wish.name} in {region}\n")
    if done == "there" and region != wish.region:
        sys.stderr.write(f"windlass: it stays in {region}: a bucket cannot be moved\n")
