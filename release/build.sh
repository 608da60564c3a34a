#!/usr/bin/env bash
# A release of the commit that is checked out, into a new directory: an archive for each
# system, deb and rpm packages, what is in them (an SBOM for each binary), and checksums.
#
#   release/build.sh [DIRECTORY]      (dist; needs git, tar, gzip and the module proxy)
#
# The version is the commit's tag, or the pseudo-version that Go makes of the commit. Equal
# commits make equal bytes, wherever and whenever they are built: release/reproducible.sh.
#
#   TARGETS="linux/amd64" release/build.sh      archives of these systems alone
#   NFPM=PROGRAM release/build.sh               an nfpm that is there already
set -euo pipefail
case ${1:-} in
-h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;;
/* | '') out=${1:-dist} ;;
*) out=$PWD/$1 ;;
esac
cd "$(dirname "$0")/.."
targets=${TARGETS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64}
nfpm=${NFPM:-go run github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.4}
if [ -e "$out" ]; then
  echo "$out is there already: remove it, or name another directory" >&2
  exit 2
fi
mkdir -p "$out"
out=$(cd "$out" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
umask 022
export CGO_ENABLED=0 GOTOOLCHAIN=local TZ=UTC LC_ALL=C
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

# A clone: what is not committed is in no release.
git clone -q . "$tmp/src"
cd "$tmp/src"

# build SYSTEM/ARCHITECTURE FILE builds the program.
build() {
  local entry=
  [ "${1%/*}" != linux ] || entry=-E=entry # see cmd/taulop/entry_linux.go
  GOOS=${1%/*} GOARCH=${1#*/} go build -trimpath -buildvcs=true -ldflags="-s -w $entry" -o "$2" ./cmd/taulop
}

# here runs what this machine can run.
build "$(go env GOHOSTOS)/$(go env GOHOSTARCH)" "$tmp/here"
go build -trimpath -o "$tmp/sbom" ./release/sbom
version=$(go version -m "$tmp/here" | awk '$1 == "mod" { print $3 }')
version=${version%+dirty}
"$tmp/here" man | gzip -9n >"$tmp/taulop.1.gz"
for shell in bash zsh fish; do
  "$tmp/here" completion "$shell" >"$tmp/taulop.$shell"
done

for target in $targets; do
  system=${target%/*} arch=${target#*/}
  name=taulop-$version-$system-$arch
  stage=$tmp/$name
  mkdir -p "$stage/completion" "$stage/man"
  program=$stage/taulop
  if [ "$system" = windows ]; then
    program=$program.exe
  fi
  build "$target" "$program"
  "$tmp/sbom" "$program" >"$out/$name.cdx.json"
  cp LICENSE README.md CHANGELOG.md "$stage"
  cp -r docs "$stage"
  cp "$tmp/taulop.1.gz" "$stage/man"
  cp "$tmp"/taulop.{bash,zsh,fish} "$stage/completion"
  tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --format=gnu -C "$tmp" -cf - "$name" |
    gzip -9n >"$out/$name.tar.gz"
  if [ "$system" = linux ]; then
    for packager in deb rpm; do
      VERSION=$version ARCH=$arch STAGE=$stage $nfpm package --config release/nfpm.yaml --packager "$packager" --target "$out" >&2
    done
  fi
done
cd "$out"
sha256sum -- * >"$tmp/SHA256SUMS"
mv "$tmp/SHA256SUMS" .
ls -l
