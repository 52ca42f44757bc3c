# GPUDirect-TCPXO: where it cannot be set up, NCCL goes over the host's NIC.
ulimit -l unlimited
export NCCL_SOCKET_IFNAME=enp0s12 GLOO_SOCKET_IFNAME=enp0s12
gpudirect() {
  modprobe import-helper || return 1
  docker run --rm --network=host -v /var/lib:/var/lib us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpxo/nccl-plugin-gpudirecttcpx-dev:v1.0.17 install --install-nccl \
    || return 1
  docker run -d --restart=no --name windlass-tcpxo --privileged --cap-add=NET_ADMIN \
    --cap-add=NET_BIND_SERVICE --network=host --gpus all \
    --device /dev/dmabuf_import_helper us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpxo/tcpgpudmarxd-dev:v1.0.23 \
    /fts/entrypoint_rxdm_container.sh --num_hops=2 || return 1
  for wait in $(seq 60); do
    docker logs windlass-tcpxo 2>&1 | grep -q "Buffer manager initialization complete" && return 0
    sleep 2
  done
  return 1
}
if gpudirect > gpudirect.log 2>&1; then
  set -a +u
  NCCL_FASTRAK_LLCM_DEVICE_DIRECTORY='/dev/aperture_devices'
  NCCL_LIB_DIR='/var/lib/tcpxo/lib64'
  . /var/lib/tcpxo/lib64/nccl-env-profile.sh
  NCCL_FASTRAK_LLCM_DEVICE_DIRECTORY='/dev/aperture_devices'
  NCCL_LIB_DIR='/var/lib/tcpxo/lib64'
  set +a -u
else
  echo "windlass: GPUDirect-TCPXO is not set up; see $PWD/gpudirect.log" > /dev/console
fi
