#!/bin/sh
# What the integration tests compare and look with, from Debian: nginx and Caddy (the same requests, their answers
# beside ours) and Chromium (what a browser does with a policy). Does nothing where all of it is there; without it
# those tests are skipped and say so. With `bench` as argument, what the benchmarks need too.
set -eu

packages='nginx-light caddy chromium iproute2 util-linux'
[ "${1:-}" = bench ] && packages="$packages wrk"

missing=
for package in $packages; do
  name=${package%-light}
  dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' && continue
  dpkg-query --show --showformat='${Status}' "$name" 2>/dev/null | grep -q 'ok installed' && continue
  missing="$missing $package"
done
[ -n "$missing" ] || exit 0

# They are started by the tests, never by the system.
policy=/usr/sbin/policy-rc.d
[ -e "$policy" ] || { printf '#!/bin/sh\nexit 101\n' > "$policy"; chmod +x "$policy"; trap 'rm -f "$policy"' EXIT; }

export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086 # a list of words
apt-get install -y -qq --no-install-recommends $missing
