#!/bin/sh
# What `npm run test:e2e` needs of Debian: a container runtime with its network plugins, the kernel's rule tools,
# an image builder, and a static binary for the sandbox image. Does nothing where all of it is there.
set -eu

packages='containerd runc containernetworking-plugins nftables conntrack iproute2 buildah busybox-static
ca-certificates curl util-linux'

missing=
for package in $packages; do
  dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086 # a list of words
apt-get install -y -qq --no-install-recommends $missing
