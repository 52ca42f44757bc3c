"""The plan that `windlass run` shows before anything else of the run."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from pathlib import Path

import pytest

from controllers import ToldEngine
from windlass.assemble import Home, open_home
from windlass.catalog.load import FORCED
from windlass.cli.foresight import Foresight
from windlass.controller.folders import RunFolders
from windlass.controller.renting import rented
from windlass.controller.request import facts_of
from windlass.engines.base import Limits
from windlass.errors import ApiDisabled, NoFeasiblePlan, OptionRefused
from windlass.policy.findings import bad
from windlass.spec.load import load_spec

HELLO = "name: hello\nrun: echo hello\n"
WORK = """\
name: llm
run: python train.py
resources: {accelerators: H100:8}
work: {params: 7e9, tokens: 2e10}
checkpoint: {every: 10m}
"""
HOUR = "name: a\nrun: b\nresources: {accelerators: H100:8}\nwhere: {regions: us-central1}\n"
TTL = HOUR + "limits: {ttl: 2h}\n"
NOWHERE = HOUR.replace("us-central1", "nowhere")


class RentingEngine(ToldEngine):
    """An engine whose machines cost money."""

    def limits(self) -> Limits:
        return replace(super().limits(), is_rented=True)


class NearFolders(RunFolders):
    """Folders on this machine, which machines of these tests reach all the same."""

    def bucket_place(self):
        return "gs://near"


class RentingHome(Home):
    """A home whose every engine rents."""

    @cached_property
    def folders(self):
        opened = self.world.open_folder
        return NearFolders(self.path, chosen=None, store=self.store, open_folder=opened)

    def engine(self, name):
        return RentingEngine(name)

    def wake(self, run=None):
        """No controller is needed."""


def write(folder: Path, text: str) -> Path:
    path = folder / "train.yaml"
    path.write_text(text)
    return path


@pytest.fixture
def foresight(tmp_path):
    def make(text: str, *, is_shown: bool = True, home: Home | None = None) -> Foresight:
        path = write(tmp_path, text)
        return Foresight(home or open_home(), load_spec(path), path, is_shown=is_shown)

    return make


@pytest.fixture
def renting() -> RentingHome:
    home = open_home()
    return RentingHome(home.path, caller=home.caller)


def told(foresight: Foresight, capsys) -> list[str]:
    foresight.tell_before()
    assert capsys.readouterr().err == "", "nothing is told of a run that may be refused"
    foresight.tell_after()
    return capsys.readouterr().err.splitlines()


def test_where_nothing_is_rented_one_line_says_so(foresight, capsys):
    seen = foresight(HELLO)
    assert seen.choose() is None
    assert told(seen, capsys) == ["plan: engine local, nothing to rent"]
    assert seen.document() == {
        "engine": "local",
        "is_rented": False,
        "chosen": None,
        "warnings": [],
        "cloud": None,
    }


CLOUD = {
    "work": (WORK, "P50 $"),
    "an hour": (HOUR, "$88."),
    "a time to live": (TTL, "at most $"),
    "nothing": (NOWHERE, "nothing fits"),
}


@pytest.mark.parametrize(("text", "said"), CLOUD.values(), ids=CLOUD)
def test_what_the_same_would_cost_in_the_cloud_is_one_more_line(foresight, capsys, text, said):
    first, second = told(foresight(text), capsys)
    assert first == "plan: engine local, nothing to rent"
    assert second.startswith(f"plan: on Google Cloud {said}")
    assert second.rpartition("; more: ")[2].startswith("windlass plan ")


def test_a_catalog_that_cannot_be_read_does_not_hold_up_a_run(foresight, capsys):
    folder = open_home().catalog_folder
    folder.mkdir()
    (folder / FORCED).write_bytes(b"junk")
    seen = foresight(WORK)
    _, second = told(seen, capsys)
    assert str(folder) in second
    assert seen.document()["engine"] == "local"


def test_programs_get_the_plan_as_windlass_plan_prints_it(foresight):
    cloud = foresight(WORK).document()["cloud"]
    assert cloud["name"] == "llm"
    assert len(cloud["candidates"]) == 3


def test_a_plan_that_is_not_wanted_is_not_told(foresight, renting, capsys):
    for home in (open_home(), renting):
        seen = foresight(WORK, is_shown=False, home=home)
        seen.choose()
        assert told(seen, capsys) == []
        assert seen.document() is None


def test_what_will_be_rented_is_shown_before_it_is(foresight, renting, capsys):
    seen = foresight(WORK, home=renting)
    chosen = seen.choose()
    seen.tell_before()
    head, _, header, first, *_, last = capsys.readouterr().err.splitlines()
    assert head.startswith("llm  ")
    assert header.split()[:2] == ["ZONE", "MACHINE"]
    assert "cheapest" in first
    assert last == f"chosen  {chosen.id} x {chosen.nodes}"
    seen.tell_after()
    assert capsys.readouterr().err == ""
    document = seen.document()
    assert document["chosen"] == {"offer": chosen.id, "nodes": chosen.nodes}
    assert document["cloud"]["candidates"][0]["offer"] == chosen.id


def test_what_cannot_be_rented_is_refused_before_anything_is_submitted(foresight, renting):
    with pytest.raises(NoFeasiblePlan):
        foresight(NOWHERE, home=renting).choose()


RENTED = {
    "GPUs": ("H100:8", "H100:8"),
    "a slice": ("v5e-16", "v5e-16"),
}


@pytest.mark.parametrize(("asked", "recorded"), RENTED.values(), ids=RENTED)
def test_what_was_chosen_is_kept_with_the_run(tmp_path, renting, asked, recorded):
    path = write(tmp_path, WORK.replace("H100:8", asked))
    spec = load_spec(path)
    chosen = Foresight(renting, spec, path, is_shown=False).choose()
    run = renting.submit(path, spec, chosen=chosen)
    gang = facts_of(run).gang
    assert (gang.offer, gang.buy) == (chosen.offer.id, "spot")
    assert (gang.accelerators, gang.nodes) == (recorded, 1)


def test_where_else_to_ask_is_kept_with_the_run(tmp_path, renting):
    path = write(tmp_path, WORK)
    spec = load_spec(path)
    foresight = Foresight(renting, spec, path, is_shown=False)
    chosen = foresight.choose()
    run = renting.submit(path, spec, chosen=chosen, others=foresight.others())
    first, *others = facts_of(run).gangs
    assert first.offer == chosen.offer.id
    assert len(others) > 10
    assert len({(gang.offer, gang.buy) for gang in (first, *others)}) == len(others) + 1
    assert {gang.kind for gang in others} == {"spot", "on-demand"}
    for gang in (first, *others):
        assert gang.usd_per_h > 0
        assert 0 < gang.work_s < gang.p50_s <= gang.p90_s
        assert gang.zone.startswith(gang.region)


@pytest.mark.parametrize(
    ("engines", "wanted"),
    [
        ("compute", {"H100": "compute"}),
        ("tpu", {"v5e": "tpu"}),
        ("gcp", {"H100": "compute", "v5e": "tpu"}),
        ("tpu, vertex", {"H100": "vertex", "v5e": "tpu"}),
    ],
)
def test_what_is_asked_for_is_what_the_named_engines_rent(tmp_path, renting, engines, wanted):
    text = WORK.replace("H100:8", "[H100:8, v5e-16]") + f"where: {{engines: [{engines}]}}\n"
    path = write(tmp_path, text)
    spec = load_spec(path)
    foresight = Foresight(renting, spec, path, is_shown=False, is_real=False)
    chosen = foresight.choose()
    assert chosen is not None
    others = foresight.others()
    run = renting.submit(path, spec, engine=foresight.engine, chosen=chosen, others=others)
    gangs = facts_of(run).gangs
    assert run.engine == gangs[0].engine
    found = {gang.accelerators.partition(":")[0].partition("-")[0]: gang.engine for gang in gangs}
    assert found == wanted


def test_what_would_end_a_run_is_found_before_there_is_one_also_without_a_plan(
    tmp_path, renting, monkeypatch
):
    def refuse(home, engine, spec, chosen):
        raise ApiDisabled("the Compute Engine API is off", remedy="Turn it on.")

    monkeypatch.setattr("windlass.cli.preflight.warnings", refuse)
    path = write(tmp_path, WORK + "where: {engines: [compute]}\n")
    with pytest.raises(ApiDisabled):
        Foresight(renting, load_spec(path), path, is_shown=False).choose()


def test_vertex_ai_is_asked_once_in_each_region_and_paid_its_fee(tmp_path, renting):
    gangs = {}
    for engine in ("compute", "vertex"):
        path = write(tmp_path, WORK + f"where: {{engines: [{engine}]}}\n")
        foresight = Foresight(renting, load_spec(path), path, is_shown=False, is_real=False)
        foresight.choose()
        gangs[engine] = [rented(found) for found in foresight.others()]
    places = [(gang.region, gang.label, gang.buy) for gang in gangs["vertex"]]
    assert len(set(places)) == len(places)
    usd = {gang.offer: gang.usd_per_h for gang in gangs["compute"]}
    both = [gang for gang in gangs["vertex"] if gang.offer in usd]
    listed = {offer.id: offer.list_usd_per_h for offer in renting.catalog.all_offers()}
    for gang in both:
        fee_usd = gang.nodes * 0.15 * listed[gang.offer]
        assert gang.usd_per_h - usd[gang.offer] == pytest.approx(fee_usd, rel=1e-3)
    assert len(both) > 5


def test_what_vertex_ai_does_not_sell_is_not_planned(tmp_path, renting):
    text = WORK.replace("H100:8", "v5e-16") + "where: {engines: [vertex]}\n"
    path = write(tmp_path, text)
    foresight = Foresight(renting, load_spec(path), path, is_shown=False, is_real=False)
    chosen = foresight.choose()
    assert chosen is not None
    assert {found.way.name for found in (chosen, *foresight.others())} == {"on-demand"}


def test_engines_that_rent_nothing_of_the_plan_are_refused(tmp_path, renting):
    path = write(tmp_path, WORK + "where: {engines: [tpu]}\n")
    with pytest.raises(OptionRefused, match="tpu cannot rent"):
        Foresight(renting, load_spec(path), path, is_shown=False).choose()


def test_nothing_else_is_asked_where_nothing_is_rented(tmp_path):
    path = write(tmp_path, WORK)
    foresight = Foresight(open_home(), load_spec(path), path, is_shown=False)
    assert foresight.choose() is None
    assert foresight.others() == []


def test_a_machine_without_accelerators_has_none_to_record(tmp_path, renting):
    path = write(tmp_path, "name: a\nrun: b\nresources: {cpus: 4}\n")
    spec = load_spec(path)
    chosen = Foresight(renting, spec, path, is_shown=False).choose()
    gang = facts_of(renting.submit(path, spec, chosen=chosen)).gang
    assert gang.accelerators == ""
    assert gang.offer == chosen.offer.id


def test_what_a_run_would_soon_run_into_is_told_with_the_plan(
    foresight, renting, capsys, monkeypatch
):
    finding = bad("network default", "Private Google Access is off", "`gcloud …`")
    asked = []

    def warnings(home, engine, spec, chosen):
        asked.append((engine, chosen.offer.region))
        return [finding]

    monkeypatch.setattr("windlass.cli.preflight.warnings", warnings)
    real = foresight(f"{TTL}".replace("where: {", "where: {engines: compute, "), home=renting)
    real.choose()
    real.tell_before()
    said = capsys.readouterr().err
    assert "warning: network default: Private Google Access is off\n  `gcloud …`\n" in said
    assert real.document()["warnings"][0]["remedy"] == "`gcloud …`"
    assert asked == [("compute", "us-central1")], "once"
