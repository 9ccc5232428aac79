#!/bin/sh
# Installs Debian packages that are not there yet: install-packages.sh PACKAGE... Does nothing where all of them are.
# Nothing that they bring is started: the tests run what they need by themselves.
set -eu

missing=
for package in "$@"; do
  for name in "$package" "${package%-light}"; do
    dpkg-query --show --showformat='${Status}' "$name" 2>/dev/null | grep -q 'ok installed' && continue 2
  done
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
echo "could not be installed:$missing" >&2
exit 1
