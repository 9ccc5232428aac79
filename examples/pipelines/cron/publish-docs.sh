#!/bin/sh
# Exports the docs, and swaps the folder that a web server serves. The server follows the link `current`, which changes in
# one step: each request gets the old site or the new one. It may run again at any time; a run that was interrupted
# continues. Needs GNU or busybox mv.
#   DOCS_DOMAIN                 the domain to export
#   SITE_ROOT                   where the releases are (default /srv/docs)
#   STATIC_EXPORT               the program (default static-export)
#   STATIC_EXPORT_API_BASE_URL  address of the export API
#   STATIC_EXPORT_KEY_FILE      file that holds its admin key
#   STATIC_EXPORT_MAX_SHRINK    holds an export with more than this percentage fewer pages (default 20). A held export: check
#                               what it lost, then run this by hand with another value. It continues the same export job.
set -eu
root=${SITE_ROOT:-/srv/docs}
mkdir -p "$root/releases"

export STATIC_EXPORT_MAX_SHRINK="${STATIC_EXPORT_MAX_SHRINK:-20}"

# Its own result names a folder that is renamed below.
${STATIC_EXPORT:-static-export} export "$DOCS_DOMAIN" --quiet \
  --to "$root/releases/next" --state "$root/state" --results-dir "$root/results" > /dev/null
version=$(cat "$root/results/version")

if [ -d "$root/releases/$version" ]; then
  rm -rf "$root/releases/next"
else
  mv "$root/releases/next" "$root/releases/$version"
fi
ln -sfn "releases/$version" "$root/current.next"
mv -T "$root/current.next" "$root/current"
echo "Published: $root/releases/$version"

# Keeps the three newest releases, for requests under way and for a way back.
find "$root/releases" -mindepth 1 -maxdepth 1 ! -name "$version" | sort -r | tail -n +3 |
  while IFS= read -r release; do rm -rf "$release"; done
