#!/bin/sh
# The Debian packages that `npm run test:gitops` needs: git, whose http-backend serves repositories and whose client Argo CD
# runs, and the redis server of Argo CD.
exec sh "$(dirname "$0")/../support/install-packages.sh" git redis-server
