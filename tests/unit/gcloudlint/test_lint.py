"""`windlass lint-gcloud`: each rule with a wrong and a right command, whole files, any text."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tree
from windlass.catalog.load import load_catalog
from windlass.gcloudlint.finding import Finding, Severity
from windlass.gcloudlint.lint import RULES, lint
from windlass.gcloudlint.rules.names import RENAMED
from windlass.gcloudlint.surface import load_surface

CATALOG = load_catalog()
VM = "gcloud compute instances create v --zone=us-central1-a"
TPU = "gcloud compute tpus tpu-vm create t --zone=us-central1-a"
VERTEX = "gcloud ai custom-jobs create --region=us-central1 --display-name=j"
IMAGE = "us-docker.pkg.dev/vertex-ai/training/pytorch-gpu.1-13"
POOL = f"{VERTEX} --worker-pool-spec=machine-type=g2-standard-8"
GRANT = "gcloud projects add-iam-policy-binding p --member=user:a@b.c"

# Rule, a command that breaks it, one beside it that does not.
CASES = [
    ("unknown-command", "gcloud compute instance list", "gcloud compute instances list"),
    ("unknown-command", "gcloud compute vms list", "gcloud compute instances list"),
    ("unknown-flag", f"{VERTEX} --timeout=2h", f"{VERTEX} --config=c.yaml"),
    ("unknown-flag", f"{VM} --on-host-maintenance=TERMINATE",
     f"{VM} --maintenance-policy=TERMINATE"),
    ("unknown-flag", f"{VM} --machine-typ=n1-standard-4", f"{VM} --machine-type n1-standard-4"),
    ("unknown-value", f"{VM} --maintenance-policy=sleep", f"{VM} --maintenance-policy=migrate"),
    ("other-track", f"{VM} --provisioning-model=FLEX_START", f"{VM} --provisioning-model=SPOT"),
    ("other-track", "gcloud compute future-reservations list",
     "gcloud beta compute future-reservations list"),
    ("other-track", "gcloud compute tpus queued-resources create q --provisioning-model=flex-start",
     "gcloud alpha compute tpus queued-resources create q --provisioning-model=flex-start"),
    ("now-ga", "gcloud alpha compute tpus tpu-vm list", "gcloud compute tpus tpu-vm list"),
    ("billing-account-missing", "gcloud billing budgets list",
     "gcloud billing budgets list --billing-account=1"),
    ("accelerator-mismatch", f"{VM} --machine-type=a2-highgpu-4g --accelerator=type=nvidia-l4",
     f"{VM} --machine-type=a2-highgpu-4g"),
    ("unknown-machine-type", f"{VM} --machine-type=a3-highgpu-16g",
     f"{VM} --machine-type=a3-highgpu-8g"),
    ("gpu-live-migration", f"{VM} --accelerator=type=nvidia-tesla-t4,count=1",
     f"{VM} --accelerator=type=nvidia-tesla-t4,count=1 --maintenance-policy=TERMINATE"),
    ("unknown-zone", "gcloud compute instances create v --zone=us-central1-z", VM),
    ("driver-metadata-ignored",
     f"{VM} --image-project=debian-cloud --metadata=install-nvidia-driver=True",
     f"{VM} --image-project=deeplearning-platform-release --metadata=install-nvidia-driver=True"),
    ("accelerator-redundant",
     f"{VM} --machine-type=a2-highgpu-1g --accelerator=type=nvidia-tesla-a100,count=1",
     f"{VM} --machine-type=a2-highgpu-1g"),
    ("image-family-latest", f"{VM} --image-family=pytorch-latest-gpu",
     f"{VM} --image-family=common-cu129-ubuntu-2204-nvidia-580"),
    ("maintenance-policy", "gcloud compute instances bulk create --maintenance-policy=TERMINATE",
     "gcloud compute instances bulk create --on-host-maintenance=TERMINATE"),
    ("preemptible", f"{VM} --preemptible", f"{VM} --provisioning-model=SPOT"),
    ("preemptible", f"{TPU} --preemptible", f"{TPU} --spot"),
    ("quota-format", "gcloud compute regions describe r --format='table(quotas.filter(a))'",
     "gcloud compute regions describe r --flatten=quotas"),
    ("termination-action", f"{VM} --provisioning-model=SPOT",
     f"{VM} --provisioning-model=SPOT --instance-termination-action=STOP"),
    ("tpu-type-name", f"{TPU} --accelerator-type=v5e-4", f"{TPU} --accelerator-type=v5litepod-4"),
    ("tpu-runtime-mismatch", f"{TPU} --accelerator-type=v5litepod-4 --version=tpu-ubuntu2204-base",
     f"{TPU} --accelerator-type=v5litepod-4 --version=v2-alpha-tpuv5-lite"),
    ("tpu-runtime-mismatch", f"{TPU} --accelerator-type=v6e-8 --version=tpu-vm-base",
     f"{TPU} --accelerator-type=v6e-8 --version=v2-alpha-tpuv6e"),
    ("tpu-runtime-old", f"{TPU} --accelerator-type=v4-8 --version=tpu-vm-tf-2.14.0",
     f"{TPU} --accelerator-type=v4-8 --version=tpu-ubuntu2204-base"),
    ("tpu-runtime-old", "# Or tpu-vm-pt-2.1 for PyTorch", "# Or another one"),
    ("tpu-legacy-surface", "gcloud compute tpus accelerator-types list",
     "gcloud compute tpus tpu-vm accelerator-types list"),
    ("ai-platform-gone", "gcloud ml-engine models list", "gcloud ai models list"),
    ("ai-platform-gone", "gcloud ai-platform jobs submit training j", VERTEX),
    ("worker-pool-key", f"{POOL},tpu-topology=2x2", f"{POOL},replica-count=1"),
    ("command-one-word", f"{VERTEX} --command='python train.py'",
     f"{VERTEX} --command=python,train.py"),
    ("prebuilt-image-without-code", f"{POOL},container-image-uri={IMAGE}.py310:latest",
     f"{POOL},script=t.py,executor-image-uri={IMAGE}.py310:latest"),
    ("vertex-tpu-machine", 'job.run(machine_type="cloud-tpu")',
     'job.run(machine_type="ct5lp-hightpu-4t")'),
    ("prebuilt-image-name", f"{POOL},executor-image-uri={IMAGE}:latest",
     f"{POOL},executor-image-uri={IMAGE}.py310:latest"),
    ("gsutil", "gsutil ls", "gcloud storage ls"),
    ("config-get-value", "gcloud config get-value project", "gcloud config get project"),
    ("legacy-role", f"{GRANT} --role=roles/ml.developer", f"{GRANT} --role=roles/aiplatform.user"),
    ("quota-metric", "# NVIDIA_H100_GPUS", "# PREEMPTIBLE_NVIDIA_H100_GPUS and NVIDIA_L4_GPUS"),
    ("driver-daemonset", "kubectl apply -f https://x/container-engine-accelerators/daemonset.yaml",
     "kubectl apply -f daemonset.yaml"),
    ("public-address", VM, f"{VM} --no-address"),
    ("broad-scope", f"{VM} --scopes=cloud-platform",
     f"{VM} --scopes=cloud-platform --service-account=a"),
    ("broad-role", f"{GRANT} --role=roles/editor", f"{GRANT} --role=roles/tpu.admin"),
    ("public-member", "gcloud storage buckets add-iam-policy-binding gs://b --member=allUsers",
     "gcloud storage buckets add-iam-policy-binding gs://b --member=user:a@b.c"),
    ("service-account-key", "gcloud iam service-accounts keys create k.json --iam-account=a",
     "gcloud iam service-accounts keys list --iam-account=a"),
    ("open-firewall", "gcloud compute firewall-rules create f --source-ranges=0.0.0.0/0",
     "gcloud compute firewall-rules create f --source-ranges=35.235.240.0/20"),
]  # fmt: skip


def found(text: str, name: str = "x.sh") -> list[Finding]:
    return lint(name, text, catalog=CATALOG)


def serious(text: str, name: str = "x.sh") -> list[Finding]:
    return [one for one in found(text, name) if one.severity != Severity.HINT]


@pytest.mark.parametrize(("rule", "bad", "good"), CASES, ids=[case[0] for case in CASES])
def test_the_rule_finds_what_breaks_it_and_nothing_else(rule, bad, good):
    assert rule in [one.rule for one in found(bad)]
    assert rule not in [one.rule for one in found(good)]


@pytest.mark.parametrize(("rule", "bad"), [case[:2] for case in CASES])
def test_a_corrected_command_has_nothing_left_to_correct(rule, bad):
    for one in found(bad):
        assert not [again for again in serious(one.fixed) if again.fixed], one.fixed


def test_every_rule_has_a_case_and_an_id_of_its_own():
    assert sorted({rule.id for rule in RULES}) == sorted({case[0] for case in CASES})
    assert len({rule.id for rule in RULES}) == len(RULES)


def test_a_tutorial_is_found_out(golden):
    shown = [
        {"line": one.line, "rule": one.rule, "severity": one.severity, "fixed": one.fixed}
        for one in serious(tree.text("tests/data/gcloudlint/tutorial.md"), "tutorial.md")
    ]
    golden.check("gcloudlint/tutorial.json", json.dumps(shown, indent=1) + "\n")


def test_commands_in_the_form_of_today_are_clean():
    assert serious(tree.text("tests/data/gcloudlint/corrected.sh")) == []


def test_pages_of_windlass_show_no_stale_command():
    ours = [name for name in tree.markdown_files() if name.startswith("docs/")]
    shown = [name for name in ours if name != "docs/concepts/lint-gcloud.md"]
    commands = [one for name in shown for one in serious(tree.text(name), name) if one.command]
    assert commands == []


def test_a_notebook_is_read_cell_by_cell():
    cells = [
        {"cell_type": "markdown", "source": ["Use\n", "`gsutil ls`\n"]},
        {"cell_type": "code", "source": ["x = 1\n", "!gcloud billing budgets list\n"]},
        {"cell_type": "code", "source": "%%bash\ngsutil ls"},
    ]
    text = json.dumps({"cells": cells}, indent=1)
    assert [one.rule for one in found(text, "n.ipynb")] == [
        "gsutil", "billing-account-missing", "gsutil",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "RUN apt-get update && gcloud billing budgets list",
        "x=$(gcloud billing budgets list)",
        'echo "$(gcloud billing budgets list --format="value(name)")"',
        "if gcloud billing budgets list; then :; fi",
        'bash -c "gcloud billing budgets list"',
        "sudo A=b gcloud billing budgets list > out 2>&1",
        "gcloud --project p billing budgets list",
        "gcloud billing \\\n  budgets \\\n  list",
    ],
)
def test_a_call_is_found_wherever_shell_allows_one(text):
    assert [one.rule for one in serious(text)] == ["billing-account-missing"]


@pytest.mark.parametrize(
    "text",
    [
        "# gcloud billing budgets list",
        "echo gcloud billing budgets list",
        "my-gcloud billing budgets list",
        "gcloud compute ssh <VM> --zone=<ZONE>",
        "gcloud $COMMAND --frob",
        "gcloud compute GROUP list",
    ],
)
def test_what_is_no_call_or_not_known_is_left_alone(text):
    assert serious(text) == []


@pytest.mark.parametrize(
    "text",
    ["gcloud is what you need.", "gcloud compute is a group of commands.", "Use `gcloud compute`."],
)
def test_a_sentence_is_no_command(text):
    assert serious(text, "x.md") == []


def test_what_gsutil_did_is_said_with_gcloud_storage():
    [one] = found("gsutil -m rsync -d -r a gs://b")
    assert one.fixed == "gcloud storage rsync --delete-unmatched-destination-objects -r a gs://b"
    [one] = found("gsutil mb -l us-central1 gs://b")
    assert one.fixed == "gcloud storage buckets create --location=us-central1 gs://b"
    [one] = found("gsutil acl ch -u x gs://b")
    assert one.fixed == ""


PIECES = st.sampled_from(
    ["gcloud ", "gsutil ", "compute ", "instances create ", "--zone=", "'", '"', "$(", ")", "`",
     "\\\n", "\n", "```", "| v5e-4 |", "${A}", "A=b\n", "<", ">", "#", "{", "--", "alpha "]
)  # fmt: skip


@given(st.lists(PIECES | st.text(max_size=5), max_size=40).map("".join))
def test_no_text_is_too_strange(text):
    for name in ("x.md", "x.sh", "x.ipynb", "-"):
        for one in found(text, name):
            assert 1 <= one.line <= text.count("\n") + 1


def test_a_megabyte_is_read_in_a_second():
    text = tree.text("tests/data/gcloudlint/corrected.sh") + "Some words of a tutorial.\n" * 500
    text = text * (1_000_000 // len(text))
    found("gcloud version")
    begin = time.process_time()
    found(text, "x.md")
    assert time.process_time() - begin < 2  # A second here; other machines are slower.


def test_every_name_that_is_proposed_exists():
    surface = load_surface()
    for path, meant in RENAMED.items():
        assert not surface.has(path)
        assert surface.has(" ".join([*path.split()[:-1], meant]))
