#!/bin/sh
# Commands of tutorials on GPUs and TPUs, each in the form that works today.
gcloud services enable compute.googleapis.com storage.googleapis.com
gcloud services list --enabled --filter="name:compute.googleapis.com OR name:storage.googleapis.com"
gcloud auth login
gcloud config set project YOUR_PROJECT_ID
gcloud config get compute/zone
gcloud storage buckets create "gs://${BUCKET}" --location="${REGION}" --uniform-bucket-level-access
gcloud compute instances create "${VM}" --zone="${ZONE}" --machine-type=g2-standard-4 \
  --maintenance-policy=TERMINATE --provisioning-model=SPOT --instance-termination-action=STOP \
  --boot-disk-size=200GB --image-family=common-cu129-ubuntu-2204-nvidia-580 \
  --image-project=deeplearning-platform-release --no-address \
  --scopes=https://www.googleapis.com/auth/cloud-platform --service-account="${ACCOUNT}"
gcloud compute ssh "${VM}" --zone="${ZONE}" --command="nvidia-smi" -- -L 8080:localhost:8080
gcloud storage cp ./output.txt "gs://${BUCKET}/runs/$(date +%Y%m%d-%H%M%S)-output.txt"
gcloud storage rm -r "gs://${BUCKET}"
gcloud compute instances list --filter="name=${VM}"
gcloud compute regions describe us-central1 --flatten=quotas \
  --format="csv(quotas.metric,quotas.limit,quotas.usage)"
gcloud compute tpus tpu-vm accelerator-types list --zone="$(gcloud config get compute/zone)"
gcloud compute tpus tpu-vm create my-tpu --zone=us-central2-b --accelerator-type=v4-8 \
  --version=tpu-ubuntu2204-base
gcloud compute tpus tpu-vm ssh my-tpu --zone=us-central2-b --worker=all --command="python3 train.py"
gcloud compute tpus queued-resources create q --node-id=n --zone=us-west4-a \
  --accelerator-type=v5litepod-4 --runtime-version=v2-alpha-tpuv5-lite --spot
gcloud ai custom-jobs create --region=us-central1 --display-name=j \
  --worker-pool-spec=machine-type=a2-highgpu-4g,replica-count=1,accelerator-type=NVIDIA_TESLA_A100,accelerator-count=4,local-package-path=.,script=train.py,executor-image-uri=us-docker.pkg.dev/vertex-ai/training/pytorch-gpu.1-13.py310:latest \
  --args='--epochs=10,--batch-size=64'
gcloud ai custom-jobs stream-logs JOB_ID --region=us-central1
gcloud container clusters create ml --zone=us-central1-a --num-nodes=1 --machine-type=n1-standard-4
gcloud container node-pools create gpus --cluster=ml --zone=us-central1-a \
  --machine-type=a2-highgpu-4g --num-nodes=2 --enable-autoscaling --min-nodes=0 --max-nodes=4 \
  --accelerator=type=nvidia-tesla-a100,count=4,gpu-driver-version=latest
gcloud billing budgets list --billing-account=BILLING_ACCOUNT_ID
gcloud billing budgets create --billing-account=BILLING_ACCOUNT_ID --display-name="GPU Budget" \
  --budget-amount=1000USD --threshold-rule=percent=0.5 --threshold-rule=percent=1.0
gcloud alpha compute instances create flex --zone=us-central1-a --machine-type=a3-highgpu-8g \
  --provisioning-model=FLEX_START --max-run-duration=2h --instance-termination-action=DELETE
gcloud beta quotas info list --service=compute.googleapis.com --project=p
gcloud compute instances bulk create --name-pattern="r-##" --count=2 --region=us-central1 \
  --machine-type=a3-megagpu-8g --on-host-maintenance=TERMINATE --no-restart-on-failure
