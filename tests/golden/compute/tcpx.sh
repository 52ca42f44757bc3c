# GPUDirect-TCPX: where it cannot be set up, NCCL goes over the host's NIC.
ulimit -l unlimited
export NCCL_SOCKET_IFNAME=enp0s12 GLOO_SOCKET_IFNAME=enp0s12
gpudirect() {
  uname -r | grep -q tcpx || return 1
  iptables -I INPUT -p tcp -m tcp -j ACCEPT
  docker run --rm --network=host -v /var/lib:/var/lib us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpx/nccl-plugin-gpudirecttcpx-dev:v3.1.9 install --install-nccl \
    || return 1
  mkdir -p /run/tcpx
  docker run -d --restart=no --name windlass-tcpx --privileged --cap-add=NET_ADMIN \
    --network=host --gpus all -v /run/tcpx:/run/tcpx us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpx/tcpgpudmarxd-dev:v2.0.12 \
    /tcpgpudmarxd/build/app/tcpgpudmarxd --gpu_nic_preset a3vm --gpu_shmem_type fd \
    --uds_path /run/tcpx --setup_param "--verbose 128 2 0 " || return 1
}
if gpudirect > gpudirect.log 2>&1; then
  set -a +u
  LD_LIBRARY_PATH='/var/lib/tcpx/lib64'
  NCCL_ALGO='Ring'
  NCCL_BUFFSIZE='4194304'
  NCCL_CROSS_NIC='0'
  NCCL_DYNAMIC_CHUNK_SIZE='524288'
  NCCL_GPUDIRECTTCPX_CTRL_DEV='enp0s12'
  NCCL_GPUDIRECTTCPX_FORCE_ACK='0'
  NCCL_GPUDIRECTTCPX_PROGRAM_FLOW_STEERING_WAIT_MICROS='500000'
  NCCL_GPUDIRECTTCPX_RX_BINDINGS='enp6s0:22-35,126-139;enp12s0:22-35,126-139;enp134s0:74-87,178-191;enp140s0:74-87,178-191'
  NCCL_GPUDIRECTTCPX_SOCKET_IFNAME='enp6s0,enp12s0,enp134s0,enp140s0'
  NCCL_GPUDIRECTTCPX_TX_BINDINGS='enp6s0:8-21,112-125;enp12s0:8-21,112-125;enp134s0:60-73,164-177;enp140s0:60-73,164-177'
  NCCL_GPUDIRECTTCPX_TX_COMPLETION_NANOSLEEP='1000'
  NCCL_GPUDIRECTTCPX_UNIX_CLIENT_PREFIX='/run/tcpx'
  NCCL_MAX_NCHANNELS='8'
  NCCL_MIN_NCHANNELS='8'
  NCCL_NET_GDR_LEVEL='PIX'
  NCCL_NSOCKS_PERTHREAD='4'
  NCCL_P2P_NET_CHUNKSIZE='524288'
  NCCL_P2P_NVL_CHUNKSIZE='1048576'
  NCCL_P2P_PCI_CHUNKSIZE='524288'
  NCCL_P2P_PXN_LEVEL='0'
  NCCL_PROTO='Simple'
  NCCL_SOCKET_NTHREADS='1'
  set +a -u
else
  echo "windlass: GPUDirect-TCPX is not set up; see $PWD/gpudirect.log" > /dev/console
fi
