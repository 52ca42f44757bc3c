# Steps 5 to 8 of gpu-vm.sh, for the shell of the VM.
set -euo pipefail
cd

# 5. The driver.
nvidia-smi

# 6. Packages. Where no index can be reached, a machine of the twin sees those of its host instead, and
# says so on its serial console. None is asked there: what comes from them is larger than the twin.
(
  [ ! -d /run/windlass-twin ] || export {http,https}_proxy=http://127.0.0.1:9
  sudo apt-get update
  sudo apt-get install -y python3-venv git
  python3 -m venv ~/venv
  ~/venv/bin/pip install --upgrade pip
  ~/venv/bin/pip install torch --index-url https://download.pytorch.org/whl/cu121
  ~/venv/bin/pip install transformers accelerate sentencepiece
)

# 7. The program.
source ~/venv/bin/activate
python -c 'import jax; print("Devices:", jax.devices())'
python ~/gpu_infer.py
ls -lh output.txt
head -n 5 output.txt

# 8. The way to the bucket, as the VM's own service account.
gcloud storage cp ./output.txt "gs://$BUCKET_NAME/runs/$(date +%Y%m%d-%H%M%S)-output.txt"
