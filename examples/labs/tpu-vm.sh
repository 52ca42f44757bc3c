#!/usr/bin/env bash
# A TPU VM that multiplies matrices with JAX. On the twin:
#
#     windlass twin up
#     windlass twin exec -- examples/labs/tpu-vm.sh
#
# PROJECT_ID, ZONE, TPU_NAME and ACCELERATOR_TYPE may be set before.
set -euo pipefail
cd "$(dirname "$0")"

# 1. The project and the zone. On a machine with a browser, `gcloud init` comes first.
PROJECT_ID=${PROJECT_ID:-$(gcloud config get-value project 2>/dev/null)}
gcloud config set project "$PROJECT_ID"
gcloud config set compute/zone "${ZONE:-us-central1-b}"
gcloud config list
gcloud projects describe "$PROJECT_ID" --format="value(projectId)"

# 2. APIs.
gcloud services enable tpu.googleapis.com compute.googleapis.com
gcloud services list --enabled --filter="name:tpu.googleapis.com OR name:compute.googleapis.com"

# 3. What there is in this zone.
ZONE=$(gcloud config get-value compute/zone 2>/dev/null)
gcloud compute tpus tpu-vm accelerator-types list --zone="$ZONE"

# 4. The TPU VM. Whatever happens from here on, it costs nothing after this script.
TPU_NAME=${TPU_NAME:-tpu-jax-lab}
clean_up() {
  gcloud compute tpus tpu-vm delete "$TPU_NAME" --zone="$ZONE" --quiet
  gcloud compute tpus tpu-vm list --zone="$ZONE"
}
trap clean_up EXIT
gcloud compute tpus tpu-vm create "$TPU_NAME" --zone="$ZONE" \
  --accelerator-type="${ACCELERATOR_TYPE:-v2-8}" --version=tpu-ubuntu2204-base
gcloud compute tpus tpu-vm describe "$TPU_NAME" --zone="$ZONE"

# 5 to 7. On the TPU VM: JAX, and the program, twice, since the first time it is compiled.
gcloud compute tpus tpu-vm scp jax_tpu_test.py "$TPU_NAME:" --zone="$ZONE"
gcloud compute tpus tpu-vm ssh "$TPU_NAME" --zone="$ZONE" --command="$(cat tpu-vm-inside.sh)"
