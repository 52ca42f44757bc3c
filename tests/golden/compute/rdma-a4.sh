# GPUDirect-RDMA (gIB): where it cannot be set up, NCCL goes over the host's NIC.
ulimit -l unlimited
export NCCL_SOCKET_IFNAME=enp0s19,enp192s20 GLOO_SOCKET_IFNAME=enp0s19,enp192s20
gpudirect() {
  keys=/etc/apt/keyrings
  mkdir -p $keys
  curl -fsS https://us-apt.pkg.dev/doc/repo-signing-key.gpg -o $keys/us-apt.asc || return 1
  curl -fsS https://packages.cloud.google.com/apt/doc/apt-key.gpg -o $keys/google.asc || return 1
  echo "deb [signed-by=$keys/google.asc] http://packages.cloud.google.com/apt \
apt-transport-artifact-registry-stable main" > /etc/apt/sources.list.d/windlass-transport.list
  apt-get -qq update && apt-get -qqy install apt-transport-artifact-registry || return 1
  echo "deb [signed-by=$keys/us-apt.asc] ar+https://us-apt.pkg.dev/projects/gce-ai-infra \
gpudirect-gib-apt main" > /etc/apt/sources.list.d/windlass-gib.list
  apt-get -qq update && apt-get -qqy install nccl-gib || return 1
}
if gpudirect > gpudirect.log 2>&1; then
  set -a +u
  LD_LIBRARY_PATH='/usr/local/gib/lib64'
  NCCL_CROSS_NIC='0'
  NCCL_IB_ADAPTIVE_ROUTING='1'
  NCCL_IB_FIFO_TC='84'
  NCCL_IB_QPS_PER_CONNECTION='4'
  NCCL_IB_TC='52'
  NCCL_NET='gIB'
  NCCL_NET_GDR_LEVEL='PIX'
  NCCL_NVLS_CHUNKSIZE='524288'
  NCCL_P2P_NET_CHUNKSIZE='131072'
  NCCL_TUNER_CONFIG_PATH='/usr/local/gib/configs/tuner_config_a4.txtpb'
  . /usr/local/gib/scripts/set_nccl_env.sh
  LD_LIBRARY_PATH='/usr/local/gib/lib64'
  NCCL_CROSS_NIC='0'
  NCCL_IB_ADAPTIVE_ROUTING='1'
  NCCL_IB_FIFO_TC='84'
  NCCL_IB_QPS_PER_CONNECTION='4'
  NCCL_IB_TC='52'
  NCCL_NET='gIB'
  NCCL_NET_GDR_LEVEL='PIX'
  NCCL_NVLS_CHUNKSIZE='524288'
  NCCL_P2P_NET_CHUNKSIZE='131072'
  NCCL_TUNER_CONFIG_PATH='/usr/local/gib/configs/tuner_config_a4.txtpb'
  set +a -u
else
  echo "windlass: GPUDirect-RDMA (gIB) is not set up; see $PWD/gpudirect.log" > /dev/console
fi
