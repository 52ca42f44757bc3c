#!/usr/bin/env bash
set -euo pipefail

gcloud compute resource-policies create group-placement w-train-1-0 \
  --project=lab \
  --region=us-central1 \
  --description='windlass=true team=nlp windlass-claim=train-1-0 windlass-run=train windlass-expires=1760086400 windlass-claim-id=train-1-0 windlass-zone=us-central1-b' \
  --collocation=collocated

startup_script=$(mktemp)
cat > "$startup_script" <<'WINDLASS_FILE'
…
WINDLASS_FILE

gcloud compute instances bulk create \
  --project=lab \
  --zone=us-central1-b \
  --predefined-names=w-train-1-0-0,w-train-1-0-1 \
  --min-count=2 \
  --description='windlass run train, claim train-1-0' \
  --machine-type=a3-ultragpu-8g \
  --labels=team=nlp,windlass=true,windlass-claim=train-1-0,windlass-run=train,windlass-expires=1760086400 \
  --metadata=windlass-claim=train-1-0,windlass-nodes=2,enable-oslogin=TRUE,block-project-ssh-keys=TRUE \
  --metadata-from-file="startup-script=$startup_script" \
  --image-project=ubuntu-os-accelerator-images \
  --image-family=ubuntu-accelerator-2404-amd64-with-nvidia-580 \
  --boot-disk-size=100GB \
  --boot-disk-type=hyperdisk-balanced \
  --network-interface=network=default,nic-type=GVNIC,no-address \
  --network-interface=network=windlass-host-1,subnet=windlass-host-1-us-central1,nic-type=GVNIC,no-address \
  --network-interface=network=windlass-rdma-us-central1-b,subnet=windlass-rdma-us-central1-b-0,nic-type=MRDMA,no-address \
  --network-interface=network=windlass-rdma-us-central1-b,subnet=windlass-rdma-us-central1-b-1,nic-type=MRDMA,no-address \
  --network-interface=network=windlass-rdma-us-central1-b,subnet=windlass-rdma-us-central1-b-2,nic-type=MRDMA,no-address \
  --network-interface=network=windlass-rdma-us-central1-b,subnet=windlass-rdma-us-central1-b-3,nic-type=MRDMA,no-address \
  --network-interface=network=windlass-rdma-us-central1-b,subnet=windlass-rdma-us-central1-b-4,nic-type=MRDMA,no-address \
  --network-interface=network=windlass-rdma-us-central1-b,subnet=windlass-rdma-us-central1-b-5,nic-type=MRDMA,no-address \
  --network-interface=network=windlass-rdma-us-central1-b,subnet=windlass-rdma-us-central1-b-6,nic-type=MRDMA,no-address \
  --network-interface=network=windlass-rdma-us-central1-b,subnet=windlass-rdma-us-central1-b-7,nic-type=MRDMA,no-address \
  --provisioning-model=SPOT \
  --instance-termination-action=DELETE \
  --max-run-duration=86400s \
  --no-restart-on-failure \
  --on-host-maintenance=TERMINATE \
  --reservation-affinity=none \
  --resource-policies=w-train-1-0 \
  --scopes=https://www.googleapis.com/auth/cloud-platform \
  --no-shielded-secure-boot \
  --shielded-vtpm \
  --shielded-integrity-monitoring

gcloud compute disks add-labels w-train-1-0-0 \
  --project=lab \
  --zone=us-central1-b \
  --labels=team=nlp,windlass=true,windlass-claim=train-1-0,windlass-run=train,windlass-expires=1760086400

gcloud compute disks add-labels w-train-1-0-1 \
  --project=lab \
  --zone=us-central1-b \
  --labels=team=nlp,windlass=true,windlass-claim=train-1-0,windlass-run=train,windlass-expires=1760086400
