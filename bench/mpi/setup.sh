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
    "mpicc.$library" -O2 -rdynamic -o "$tmp/$library" "$1"
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

# launcher is how ranks of a library are started.
launcher() {
  case $1 in
  openmpi) echo "mpirun.openmpi --allow-run-as-root --bind-to core -n" ;;
  mpich) echo "mpirun.mpich -bind-to core -n" ;;
  esac
}

# tree_of_mpich writes the file that MPICH chooses by, which is in its library as text in one line: a file, or
# the one that programs start with.
tree_of_mpich() {
  strings -n 500 -w "${1:-$(ldconfig -p | awk '/libmpich\.so/ { print $NF; exit }')}" | grep 'algorithm=MPIR_Bcast_intra_binomial' | head -1
}
