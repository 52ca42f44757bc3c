#!/usr/bin/env bash
set -euo pipefail

startup_script=$(mktemp)
cat > "$startup_script" <<'WINDLASS_FILE'
…
WINDLASS_FILE

gcloud alpha compute instance-templates create w-train-1-0 \
  --project=lab \
  --instance-template-region=us-central1 \
  --description='windlass=true team=nlp windlass-claim=train-1-0 windlass-run=train windlass-expires=1760086400 windlass-claim-id=train-1-0 windlass-zone=us-central1-a' \
  --machine-type=a2-highgpu-1g \
  --labels=team=nlp,windlass=true,windlass-claim=train-1-0,windlass-run=train,windlass-expires=1760086400 \
  --metadata=windlass-claim=train-1-0,windlass-nodes=2,enable-oslogin=TRUE,block-project-ssh-keys=TRUE \
  --metadata-from-file="startup-script=$startup_script" \
  --image-project=ubuntu-os-accelerator-images \
  --image-family=ubuntu-accelerator-2404-amd64-with-nvidia-580 \
  --boot-disk-size=100GB \
  --boot-disk-type=pd-balanced \
  --network-interface=network=default,nic-type=GVNIC,no-address \
  --provisioning-model=FLEX_START \
  --instance-termination-action=DELETE \
  --max-run-duration=86400s \
  --no-restart-on-failure \
  --on-host-maintenance=TERMINATE \
  --reservation-affinity=none \
  --scopes=https://www.googleapis.com/auth/cloud-platform \
  --no-shielded-secure-boot \
  --shielded-vtpm \
  --shielded-integrity-monitoring

gcloud compute instance-groups managed create w-train-1-0 \
  --project=lab \
  --zone=us-central1-a \
  --description='windlass=true team=nlp windlass-claim=train-1-0 windlass-run=train windlass-expires=1760086400 windlass-claim-id=train-1-0 windlass-zone=us-central1-a' \
  --base-instance-name=w-train-1-0 \
  --template=projects/lab/regions/us-central1/instanceTemplates/w-train-1-0 \
  --size=0 \
  --default-action-on-vm-failure=do-nothing

# gcloud cannot name the machines that a resize request makes, as the request of Windlass does
# (w-train-1-0-0 to w-train-1-0-1): machines made by this command do not find out which node they are.
gcloud compute instance-groups managed resize-requests create w-train-1-0 \
  --project=lab \
  --zone=us-central1-a \
  --resize-request=w-train-1-0-all \
  --resize-by=2 \
  --requested-run-duration=86400s
