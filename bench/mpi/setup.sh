# Functions that the scripts here share, which are in the project's root by then.

# folder makes tmp, which goes when the script ends, and out: the directory that is named, a new
# or an empty one, else one in tmp.
folder() {
  tmp=$(mktemp -d)
  trap 'rm -rf "$tmp"' EXIT
  out=${1:-$tmp/out}
  mkdir -p "$out"
  if [ -n "$(ls -A "$out")" ]; then
    echo "$out is not empty: name a new directory, or one that is empty" >&2
    exit 2
  fi
}

# install installs those of the Debian packages that are missing.
install() {
  local package missing=()
  for package; do
    dpkg -s "$package" >"$tmp/found" 2>&1 || missing+=("$package")
  done
  if [ ${#missing[@]} -gt 0 ]; then
    echo "installing ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    (apt-get update && apt-get install -y --no-install-recommends "${missing[@]}") >"$tmp/apt" 2>&1 ||
      { cat "$tmp/apt" >&2; exit 1; }
  fi
}

# build compiles a program for both libraries, and taulop.
build() {
  local library
  for library in openmpi mpich; do
    "mpicc.$library" -O2 -o "$tmp/$library" "$1"
  done
  go build -o "$tmp/taulop" ./cmd/taulop
}

# count_ranks has one for each core, of those that may be used: two at the least.
count_ranks() {
  ranks=$(lscpu -p=CORE,SOCKET | grep -v '^#' | sort -u | wc -l)
  [ "$ranks" -le "$(nproc)" ] || ranks=$(nproc)
  if [ "$ranks" -lt 2 ]; then
    echo "one core: messages need two" >&2
    exit 1
  fi
}

# between prints the one-way time between ranks' CPUs, the longest, in ns.
between() { "$tmp/taulop" pairs -quiet -csv -time 1s | awk -F , '/^pair,/ && $6 == 0 && $14 > t { t = $14 } END { print t }'; }

# begin notes how near the CPUs mostly are, in ns.
begin() {
  moved=0 first=$(for _ in 1 2 3 4 5 6 7 8 9; do between; sleep 1; done | sort -n | sed -n 5p)
}

# near CMD... carries CMD out while the CPUs are as near to each other as begin noted. The
# host of a virtual machine moves them between caches, for seconds or minutes, and what a sweep
# saw says nothing then of what a library met. So it is asked before and after, by what is no
# part of the comparison; what was done elsewhere is done again, and counted.
near() {
  local tries before after
  for tries in $(seq 40); do
    before=$(between)
    "$@"
    after=$(between)
    awk -v "first=$first" 'BEGIN { RS = " " } { if ($1 > 1.5 * first || first > 1.5 * $1) exit 1 }' <<<"$before $after" && return 0
    moved=$((moved + 1))
    sleep 2
  done
  echo "the CPUs are no longer as near to each other as they were at first, $first ns: begin again" >&2
  exit 1
}

# again says how often the CPUs were elsewhere.
again() {
  echo "the CPUs, $first ns from each other, were elsewhere $moved times, and what was measured then was measured again"
}
