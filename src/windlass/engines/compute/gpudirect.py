"""How nodes let their GPUs talk past the hosts: plugins, daemons and NCCL's environment.

Must not run anything. Must not be relied on alone: where it cannot be set up the node says so and
NCCL uses the host's NIC. None of it has been tried on hardware by us; it follows what Google
publishes for these machine types.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

IMAGES = "us-docker.pkg.dev/gce-ai-infra"
# Plugin and daemon are released as pairs; every node of a gang has the same.
TCPX_PLUGIN = f"{IMAGES}/gpudirect-tcpx/nccl-plugin-gpudirecttcpx-dev:v3.1.9"
TCPX_DAEMON = f"{IMAGES}/gpudirect-tcpx/tcpgpudmarxd-dev:v2.0.12"
TCPXO_PLUGIN = f"{IMAGES}/gpudirect-tcpxo/nccl-plugin-gpudirecttcpx-dev:v1.0.17"
TCPXO_DAEMON = f"{IMAGES}/gpudirect-tcpxo/tcpgpudmarxd-dev:v1.0.23"

TCPX_NICS = ("enp6s0", "enp12s0", "enp134s0", "enp140s0")
_TX = ("8-21,112-125", "8-21,112-125", "60-73,164-177", "60-73,164-177")
_RX = ("22-35,126-139", "22-35,126-139", "74-87,178-191", "74-87,178-191")


@dataclass(frozen=True, slots=True, kw_only=True)
class Transport:
    """How GPUs of two machines talk."""

    title: str
    install: str
    """Lines of a shell function that fails where the node cannot have it."""
    environment: Mapping[str, str] = field(default_factory=dict)
    profile: str = ""
    """A file of the plugin with its own settings, which are taken first."""
    host_nics: str
    """What NCCL uses to find the other nodes, and for everything when nothing else works."""


TCPX = Transport(
    title="GPUDirect-TCPX",
    host_nics="enp0s12",
    # Ubuntu's own kernel cannot do it: this needs an image with the kernel linux-gcp-tcpx.
    install=f"""\
  uname -r | grep -q tcpx || return 1
  iptables -I INPUT -p tcp -m tcp -j ACCEPT
  docker run --rm --network=host -v /var/lib:/var/lib {TCPX_PLUGIN} install --install-nccl \\
    || return 1
  mkdir -p /run/tcpx
  docker run -d --restart=no --name windlass-tcpx --privileged --cap-add=NET_ADMIN \\
    --network=host --gpus all -v /run/tcpx:/run/tcpx {TCPX_DAEMON} \\
    /tcpgpudmarxd/build/app/tcpgpudmarxd --gpu_nic_preset a3vm --gpu_shmem_type fd \\
    --uds_path /run/tcpx --setup_param "--verbose 128 2 0 " || return 1
""",
    environment={
        "LD_LIBRARY_PATH": "/var/lib/tcpx/lib64",
        "NCCL_ALGO": "Ring",
        "NCCL_BUFFSIZE": "4194304",
        "NCCL_CROSS_NIC": "0",
        "NCCL_DYNAMIC_CHUNK_SIZE": "524288",
        "NCCL_GPUDIRECTTCPX_CTRL_DEV": "enp0s12",
        "NCCL_GPUDIRECTTCPX_FORCE_ACK": "0",
        "NCCL_GPUDIRECTTCPX_PROGRAM_FLOW_STEERING_WAIT_MICROS": "500000",
        "NCCL_GPUDIRECTTCPX_RX_BINDINGS": ";".join(map(":".join, zip(TCPX_NICS, _RX, strict=True))),
        "NCCL_GPUDIRECTTCPX_SOCKET_IFNAME": ",".join(TCPX_NICS),
        "NCCL_GPUDIRECTTCPX_TX_BINDINGS": ";".join(map(":".join, zip(TCPX_NICS, _TX, strict=True))),
        "NCCL_GPUDIRECTTCPX_TX_COMPLETION_NANOSLEEP": "1000",
        "NCCL_GPUDIRECTTCPX_UNIX_CLIENT_PREFIX": "/run/tcpx",
        "NCCL_MAX_NCHANNELS": "8",
        "NCCL_MIN_NCHANNELS": "8",
        "NCCL_NET_GDR_LEVEL": "PIX",
        "NCCL_NSOCKS_PERTHREAD": "4",
        "NCCL_P2P_NET_CHUNKSIZE": "524288",
        "NCCL_P2P_NVL_CHUNKSIZE": "1048576",
        "NCCL_P2P_PCI_CHUNKSIZE": "524288",
        "NCCL_P2P_PXN_LEVEL": "0",
        "NCCL_PROTO": "Simple",
        "NCCL_SOCKET_NTHREADS": "1",
    },
)

TCPXO = Transport(
    title="GPUDirect-TCPXO",
    host_nics="enp0s12",
    install=f"""\
  modprobe import-helper || return 1
  docker run --rm --network=host -v /var/lib:/var/lib {TCPXO_PLUGIN} install --install-nccl \\
    || return 1
  docker run -d --restart=no --name windlass-tcpxo --privileged --cap-add=NET_ADMIN \\
    --cap-add=NET_BIND_SERVICE --network=host --gpus all \\
    --device /dev/dmabuf_import_helper {TCPXO_DAEMON} \\
    /fts/entrypoint_rxdm_container.sh --num_hops=2 || return 1
  for wait in $(seq 60); do
    docker logs windlass-tcpxo 2>&1 | grep -q "Buffer manager initialization complete" && return 0
    sleep 2
  done
  return 1
""",
    # The plugin refuses values other than those of its own release.
    profile="/var/lib/tcpxo/lib64/nccl-env-profile.sh",
    environment={
        "NCCL_FASTRAK_LLCM_DEVICE_DIRECTORY": "/dev/aperture_devices",
        "NCCL_LIB_DIR": "/var/lib/tcpxo/lib64",
    },
)

RDMA = Transport(
    title="GPUDirect-RDMA (gIB)",
    host_nics="enp0s19,enp192s20",
    install="""\
  keys=/etc/apt/keyrings
  mkdir -p $keys
  curl -fsS https://us-apt.pkg.dev/doc/repo-signing-key.gpg -o $keys/us-apt.asc || return 1
  curl -fsS https://packages.cloud.google.com/apt/doc/apt-key.gpg -o $keys/google.asc || return 1
  echo "deb [signed-by=$keys/google.asc] http://packages.cloud.google.com/apt \\
apt-transport-artifact-registry-stable main" > /etc/apt/sources.list.d/windlass-transport.list
  apt-get -qq update && apt-get -qqy install apt-transport-artifact-registry || return 1
  echo "deb [signed-by=$keys/us-apt.asc] ar+https://us-apt.pkg.dev/projects/gce-ai-infra \\
gpudirect-gib-apt main" > /etc/apt/sources.list.d/windlass-gib.list
  apt-get -qq update && apt-get -qqy install nccl-gib || return 1
""",
    profile="/usr/local/gib/scripts/set_nccl_env.sh",
    environment={
        "LD_LIBRARY_PATH": "/usr/local/gib/lib64",
        "NCCL_CROSS_NIC": "0",
        "NCCL_IB_ADAPTIVE_ROUTING": "1",
        "NCCL_IB_FIFO_TC": "84",
        "NCCL_IB_QPS_PER_CONNECTION": "4",
        "NCCL_IB_TC": "52",
        "NCCL_NET": "gIB",
        "NCCL_NET_GDR_LEVEL": "PIX",
        "NCCL_NVLS_CHUNKSIZE": "524288",
        "NCCL_P2P_NET_CHUNKSIZE": "131072",
    },
)
TRANSPORTS = {"tcpx": TCPX, "tcpxo": TCPXO, "rdma": RDMA}
TUNERS = {
    "a3-ultragpu-8g": "/usr/local/gib/configs/tuner_config_a3u.txtpb",
    "a4-highgpu-8g": "/usr/local/gib/configs/tuner_config_a4.txtpb",
}

SCRIPT = """\
# {title}: where it cannot be set up, NCCL goes over the host's NIC.
ulimit -l unlimited
export NCCL_SOCKET_IFNAME={nics} GLOO_SOCKET_IFNAME={nics}
gpudirect() {{
{install}}}
if gpudirect > gpudirect.log 2>&1; then
  set -a +u
{settings}  set +a -u
else
  echo "windlass: {title} is not set up; see $PWD/gpudirect.log" > /dev/console
fi
"""


def set_up(transport: str, *, machine: str) -> str:
    """The lines of a node's start-up script. What they set, its ranks inherit."""
    chosen = TRANSPORTS[transport]
    environment = dict(chosen.environment)
    if machine in TUNERS:
        environment["NCCL_TUNER_CONFIG_PATH"] = TUNERS[machine]
    settings = [f"{name}='{value}'" for name, value in sorted(environment.items())]
    if chosen.profile:
        # It reads some of ours, and ours are those that count.
        settings = [*settings, f". {chosen.profile}", *settings]
    return SCRIPT.format(
        title=chosen.title,
        nics=chosen.host_nics,
        install=chosen.install,
        settings="".join(f"  {line}\n" for line in settings),
    )
