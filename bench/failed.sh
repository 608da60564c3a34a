# Ends a script at the first command that fails, and prints that command. A script whose commands write
# their errors into a file sets errors to its name; the file is printed, too. With -h or --help it prints
# the script's head.
set -eEuo pipefail
shopt -s inherit_errexit
errors=
failed() { # STATUS LINE COMMAND
  [ "$BASH_SUBSHELL" = 0 ] || return 0 # the parent shell reports it
  trap - ERR
  [ ! -s "$errors" ] || cat "$errors" >&2
  echo "$0: line $2: status $1 of: ${3%%$'\n'*}" >&2
}
trap 'failed $? $LINENO "$BASH_COMMAND"' ERR

case ${1:-} in
-h | --help)
  sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
  exit
  ;;
esac

# absolute PATH prints a path from the root on. The scripts change to the project's root.
started=$PWD
absolute() {
  case $1 in
  /*) echo "$1" ;;
  *) echo "$started/$1" ;;
  esac
}

refuse() { # SENTENCE
  echo "$0: $1" >&2
  exit 2
}

# most N ARGUMENTS… refuses more than N arguments.
most() {
  [ $(($# - 1)) -le "$1" ] || refuse "${*:$1+2:1} is an argument too many: -h says which there are"
}

# whole NAME VALUE [LEAST] refuses a value that is no whole number from LEAST (1) on.
whole() {
  [[ $2 =~ ^[0-9]{1,6}$ ]] && [ "$((10#$2))" -ge "${3:-1}" ] || refuse "$1 must be a whole number from ${3:-1} on, not '$2'"
}

# exists FILE refuses a file that does not exist.
exists() {
  [ -f "$1" ] || refuse "there is no file $1"
}

# programs NAME… refuses where one of the programs is missing.
programs() {
  local name
  for name; do
    command -v "$name" >/dev/null || refuse "it needs $name"
  done
}
