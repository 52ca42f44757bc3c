gcloud ai custom-jobs create \
  --project=lab \
  --region=us-central1 \
  --display-name=train-1-0 \
  --labels=team=nlp,windlass=true,windlass-claim=train-1-0,windlass-run=train,windlass-expires=1760086400 \
  --config="$training_config" \
  --kms-key=projects/lab/locations/us-central1/keyRings/r/cryptoKeys/k
