#!/bin/sh
# The Debian packages that `npm run test:e2e` needs: a container runtime with its network plugins, the kernel's rule tools,
# an image builder, a static binary for the sandbox image, and a registry with htpasswd for mirrors.
exec sh "$(dirname "$0")/../support/install-packages.sh" containerd runc containernetworking-plugins nftables \
  conntrack iproute2 buildah busybox-static ca-certificates curl util-linux \
  docker-registry apache2-utils
