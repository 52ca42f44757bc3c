# Steps 5 to 7 of tpu-vm.sh, for the shell of the TPU VM.
set -eu

# 5. Where we are.
uname -a
python3 --version

# 6. JAX. Where no index can be reached, a machine of the twin sees the packages of its host instead,
# and says so on its serial console. None is asked there: the TPU's library is larger than the twin.
(
  [ ! -d /run/windlass-twin ] || export http_proxy=http://127.0.0.1:9 https_proxy=http://127.0.0.1:9
  python3 -m pip install --upgrade pip setuptools wheel
  python3 -m pip install --upgrade "jax[tpu]" \
    -f https://storage.googleapis.com/jax-releases/libtpu_releases.html
)
python3 -c 'import jax; print("JAX version:", jax.__version__)'

# 7. The program.
python3 jax_tpu_test.py
