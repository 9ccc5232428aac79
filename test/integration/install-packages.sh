#!/bin/sh
# What the integration tests compare and look with, from Debian: libatomic, which Node itself needs, nginx and Caddy (the same requests, their answers
# beside ours), Chromium (what a browser does with a policy), shells (how they complete commands), man (its pages),
# docker-registry with htpasswd (what a mirror writes and reads), and minisign (whether it accepts the signature of a
# kit). Without them their tests are skipped and say so. With `bench` as argument, what the benchmarks need too.
packages='libatomic1 nginx-light caddy chromium iproute2 util-linux bsdutils bash-completion zsh fish man-db groff-base docker-registry apache2-utils minisign'
[ "${1:-}" = bench ] && packages="$packages wrk time wget httrack"
# shellcheck disable=SC2086 # a list of words
exec sh "$(dirname "$0")/../support/install-packages.sh" $packages
