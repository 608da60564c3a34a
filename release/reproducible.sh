#!/usr/bin/env bash
# Two builds of one commit, in two directories and with nothing of each other's compiled
# packages, are the same bytes: archive, packages, SBOM.
set -euo pipefail
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'chmod -R u+w "$tmp"; rm -rf "$tmp"' EXIT
export TARGETS=${TARGETS:-linux/amd64}
if [ -z "${NFPM:-}" ]; then
  GOBIN=$tmp/bin go install "$(grep -o 'github.com/goreleaser/nfpm[^}]*' release/build.sh)"
  export NFPM=$tmp/bin/nfpm
fi
release/build.sh "$tmp/first"
git clone -q . "$tmp/elsewhere/longer/clone"
GOCACHE=$tmp/cache "$tmp/elsewhere/longer/clone/release/build.sh" "$tmp/second"
if ! cmp "$tmp/first/SHA256SUMS" "$tmp/second/SHA256SUMS"; then
  diff "$tmp/first/SHA256SUMS" "$tmp/second/SHA256SUMS" || true
  echo "two builds of one commit differ"
  exit 1
fi
mkdir "$tmp/package"
tar -xzf "$tmp"/first/taulop-*-linux-amd64.tar.gz -C "$tmp/package"
"$tmp"/package/*/taulop version
echo "two builds of one commit are the same bytes"
