# Ends a script at the first command that fails, and prints that command. A script whose commands write
# their errors into a file sets errors to its name; the file is printed, too.
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
