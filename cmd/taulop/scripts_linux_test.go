package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/must"
)

// TestScriptsSayWhy runs bench/mpi/run.sh with fake compilers, libraries and taulop. Each command fails
// in turn, and the terminal shows its error.
func TestScriptsSayWhy(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	program := func(name, text string) {
		t.Helper()
		must.Do(os.Chmod(save(t, dir, name, "#!/bin/bash\n"+text), 0o755))
	}
	program("stub", `[ "${0##*/}" != states ] || { cat >/dev/null; echo 0.3 100 0 1e9; exit; }
[ "$1" != "$FAIL" ] || { echo "taulop: $1 cannot" >&2; exit 3; }
case $1 in
sweep | import) while [ $# -gt 1 ]; do [ "$1" != -o ] || : >"$2"; shift; done ;;
esac
`)
	program("go", `cp "$(dirname "$0")/stub" "$3"`) // go build -o FILE
	program("mpirun.openmpi", `[ "$FAIL" != mpirun ] || { echo "taulop: mpirun cannot" >&2; exit 3; }; cat <<END
mpirun (Open MPI) 4.1
#-----
# Benchmarking PingPong
#-----
#bytes #repetitions t[usec]
# batch 1024 50 0.3 0.3 0.3 2
END
`)
	program("mpirun.mpich", "exec mpirun.openmpi")
	program("lscpu", "echo 0,0; echo 1,0")
	program("nproc", "echo 2")
	for _, name := range []string{"dpkg", "mpicc.openmpi", "mpicc.mpich", "mpichversion"} {
		program(name, "")
	}
	for _, fails := range []string{"", "sweep", "mpirun", "topo", "import", "verify"} {
		cmd := exec.Command("bash", "../../bench/mpi/run.sh", "2", filepath.Join(dir, "out-"+fails))
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "FAIL="+fails)
		said, err := cmd.CombinedOutput()
		switch {
		case fails == "" && err != nil:
			t.Errorf("nothing fails: %v\n%s", err, said)
		case fails == "":
		case err == nil:
			t.Errorf("%s fails, and run.sh does not", fails)
		case !strings.Contains(string(said), "taulop: "+fails+" cannot") || !strings.Contains(string(said), "run.sh: line "):
			t.Errorf("%s fails, and run.sh says:\n%s", fails, said)
		}
	}
}
