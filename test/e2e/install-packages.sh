#!/bin/sh
# What `npm run test:e2e` needs of Debian: a container runtime with its network plugins, the kernel's rule tools,
# an image builder, and a static binary for the sandbox image. Does nothing where all of it is there. Nothing is
# started: the tests run what they need by themselves.
set -eu

packages='containerd runc containernetworking-plugins nftables conntrack iproute2 buildah busybox-static
ca-certificates curl util-linux'

missing=
for package in $packages; do
  dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' && continue
  case $package in
    # Other packages bring the same programs, and must not be replaced.
    containerd | runc) command -v "$package" >/dev/null && continue ;;
  esac
  missing="$missing $package"
done
[ -n "$missing" ] || exit 0

policy=/usr/sbin/policy-rc.d
[ -e "$policy" ] || { printf '#!/bin/sh\nexit 101\n' > "$policy"; chmod +x "$policy"; trap 'rm -f "$policy"' EXIT; }

export DEBIAN_FRONTEND=noninteractive
for try in 1 2 3; do
  # shellcheck disable=SC2086 # a list of words
  apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing && exit 0
  [ "$try" = 3 ] || sleep 10
done
exit 1
