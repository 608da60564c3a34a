# Functions of the scripts here, which call them in the project's root.

# folder makes tmp, removed when the script ends, and out: the named directory, new or empty, or one in tmp.
folder() {
  tmp=$(mktemp -d)
  trap 'rm -rf "$tmp"' EXIT
  out=$tmp/out
  [ -z "$1" ] || out=$(absolute "$1")
  mkdir -p "$out"
  if [ -n "$(ls -A "$out")" ]; then
    refuse "$out is not empty: name a new directory, or one that is empty"
  fi
}

# install installs missing Debian packages.
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

# count_ranks is the number of usable cores; it fails below two.
count_ranks() {
  ranks=$(lscpu -p=CORE,SOCKET | grep -v '^#' | sort -u | wc -l)
  [ "$ranks" -le "$(nproc)" ] || ranks=$(nproc)
  if [ "$ranks" -lt 2 ]; then
    echo "one core: messages need two" >&2
    exit 1
  fi
}

# launcher is the command that starts ranks of a library.
launcher() {
  case $1 in
  openmpi) echo "mpirun.openmpi --allow-run-as-root --bind-to core -n" ;;
  mpich) echo "mpirun.mpich -bind-to core -n" ;;
  esac
}

# tree_of_mpich writes MPICH's selection tree, one line of text in its library: a given file, or the one that
# programs load.
tree_of_mpich() {
  strings -n 500 -w "${1:-$(ldconfig -p | awk '/libmpich\.so/ { print $NF; exit }')}" | grep 'algorithm=MPIR_Bcast_intra_binomial' | head -1
}
