#!/bin/sh
# The Debian packages that `npm run test:gitops` needs: git, whose http-backend serves repositories and whose client Argo CD
# runs, the redis server of Argo CD, lua5.1, which runs the health check for Argo CD, and a registry with htpasswd for
# mirrors.
exec sh "$(dirname "$0")/../support/install-packages.sh" git redis-server lua5.1 docker-registry apache2-utils
