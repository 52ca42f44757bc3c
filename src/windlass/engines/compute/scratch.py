"""Local SSDs of a machine as one place for scratch files: what its start-up script does.

Must not fail a node: where there is nothing to mount, ranks are told of no such place. None of it
has been tried on hardware by us.
"""

from __future__ import annotations

PLACE = "/mnt/scratch"
VARIABLE = "WINDLASS_SCRATCH"
DISKS = "/dev/disk/by-id/google-local-nvme-ssd-"
"""What Google's udev rules call them."""

SET_UP = f"""\
# Local SSDs, as one file system where mdadm is there to make one of several.
scratch() {{
  local disks=({DISKS}*) device
  [ -e "${{disks[0]}}" ] || return 1
  mountpoint -q {PLACE} && return 0
  device=${{disks[0]}}
  if [ ${{#disks[@]}} -gt 1 ] && command -v mdadm; then
    device=/dev/md/windlass-scratch
    [ -e $device ] || mdadm --create $device --run --level=0 --homehost=any \\
      --raid-devices=${{#disks[@]}} "${{disks[@]}}" || return 1
  fi
  mkfs.ext4 -q -F -m 0 -E nodiscard,lazy_itable_init=1,lazy_journal_init=1 $device || return 1
  mkdir -p {PLACE} && mount -o noatime,discard $device {PLACE} && chmod 1777 {PLACE}
}}
scratch > scratch.log 2>&1 && export {VARIABLE}={PLACE}
"""
