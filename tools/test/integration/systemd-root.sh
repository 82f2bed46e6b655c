#!/bin/sh
# systemd in a root, a network and a tree of processes of its own over those of this machine, of which it changes nothing: what it writes is in memory.
# Run as: systemd-root.sh CGROUP CHECKOUT NODE, CGROUP being a new directory below a hierarchy of version 2.
set -e
if [ "$4" != inside ]; then
  echo $$ >"$1/cgroup.procs"
  exec unshare --pid --fork --kill-child --mount --uts --ipc --net --cgroup "$0" "$1" "$2" "$3" inside
fi
mount --make-rprivate /
scratch=$(mktemp -d)
mount -t tmpfs tmpfs "$scratch"
mkdir "$scratch/upper" "$scratch/work" "$scratch/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$scratch/upper,workdir=$scratch/work" "$scratch/root"
cd "$scratch/root"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount --rbind /dev dev
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs tmp
mkdir -p opt/seneschal mnt/old
mount --bind "$2" opt/seneschal
# Homes are hidden from the unit: what lies in one is seen elsewhere.
touch opt/node
mount --bind "$3" opt/node
install -m 644 "$2/ops/systemd/seneschal.service" etc/systemd/system/seneschal.service
install -m 644 "$2/ops/systemd/seneschal.sysusers" usr/lib/sysusers.d/seneschal.conf
install -D -m 644 "$2/ops/systemd/seneschal.yaml" etc/seneschal/seneschal.yaml
cat >usr/bin/seneschal <<'END'
#!/bin/sh
exec /opt/node /opt/seneschal/packages/cli/dist/main.js "$@"
END
chmod 755 usr/bin/seneschal
# Debian's own units are not what is tried.
ln -sf /dev/null etc/systemd/system/systemd-tmpfiles-setup.service
ip link set lo up
pivot_root . mnt/old
umount -l /mnt/old
cd /
export container=other
exec env SYSTEMD_PROC_CMDLINE="systemd.unified_cgroup_hierarchy=1" /lib/systemd/systemd --system --unit=sysinit.target --log-target=null
