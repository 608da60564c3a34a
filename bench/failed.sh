# For the scripts here: a command that fails ends them, and the terminal says which. A script whose
# commands write their errors into a file names it in errors, and the terminal shows it, too.
set -eEuo pipefail
shopt -s inherit_errexit
errors=
failed() { # STATUS LINE COMMAND
  [ "$BASH_SUBSHELL" = 0 ] || return 0 # whoever began the subshell says it
  trap - ERR
  [ ! -s "$errors" ] || cat "$errors" >&2
  echo "$0: line $2: status $1 of: ${3%%$'\n'*}" >&2
}
trap 'failed $? $LINENO "$BASH_COMMAND"' ERR
