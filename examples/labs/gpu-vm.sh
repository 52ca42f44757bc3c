#!/usr/bin/env bash
# A GPU VM that runs a small model and puts what it says into a bucket. On the twin:
#
#     windlass twin up
#     windlass twin exec -- examples/labs/gpu-vm.sh
#
# PROJECT_ID, ZONE, VM_NAME and BUCKET_NAME may be set before.
set -euo pipefail
cd "$(dirname "$0")"

# 1. Variables and the project. On a machine with a browser, `gcloud auth login` comes first.
PROJECT_ID=${PROJECT_ID:-$(gcloud config get-value project 2>/dev/null)}
ZONE=${ZONE:-us-central1-a}
VM_NAME=${VM_NAME:-aihc-gpu-lab-1}
BUCKET_NAME=${BUCKET_NAME:-$PROJECT_ID-aihc-lab-outputs}
gcloud config set project "$PROJECT_ID"

# 2. APIs.
gcloud services enable compute.googleapis.com storage.googleapis.com
gcloud services list --enabled \
  --filter="name:compute.googleapis.com OR name:storage.googleapis.com"

# 3. A bucket near the VM.
gcloud storage buckets create "gs://$BUCKET_NAME" --location="${ZONE%-*}" \
  --uniform-bucket-level-access

# 4. The VM. Whatever happens from here on, it costs nothing after this script.
clean_up() {
  gcloud compute instances delete "$VM_NAME" --zone="$ZONE" --quiet
  gcloud storage rm -r "gs://$BUCKET_NAME"
}
trap clean_up EXIT
gcloud compute instances create "$VM_NAME" --zone="$ZONE" \
  --machine-type=g2-standard-4 --maintenance-policy=TERMINATE \
  --provisioning-model=SPOT --instance-termination-action=STOP \
  --boot-disk-size=200GB --image-family=debian-12 --image-project=debian-cloud \
  --metadata=install-nvidia-driver=True \
  --scopes=https://www.googleapis.com/auth/cloud-platform
gcloud compute instances describe "$VM_NAME" --zone="$ZONE" --format="get(status, machineType)"

# 5 to 8. On the VM: its GPU, Python's packages, the program, and the way to the bucket.
gcloud compute scp gpu_infer.py "$VM_NAME:" --zone="$ZONE"
gcloud compute ssh "$VM_NAME" --zone="$ZONE" --command="BUCKET_NAME=$BUCKET_NAME bash -s" \
  <gpu-vm-inside.sh

# What arrived.
gcloud storage ls "gs://$BUCKET_NAME/runs/"
gcloud storage cat "gs://$BUCKET_NAME/runs/*-output.txt"
