package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/child"
)

// Command is the argument that starts a program as a launch, see Serve.
const Command = "launch"

// noJournal is the exit status of a launch that could not write its results: EX_IOERR of sysexits.
const noJournal = 74

// preemption is the GODEBUG setting of launches: the runtime would interrupt a worker in a batch of more
// than 10 ms.
const preemption = "asyncpreemptoff=1"

// patience is the time after which a launch that was asked to stop is killed.
const patience = 2 * time.Second

// start starts this program as a launch, in a process of its own.
func start(o Order, journal *os.File) (*Process, error) {
	cmd, err := child.Command(Command)
	if err != nil {
		return nil, err
	}
	order, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	in, orders, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var stderr bytes.Buffer
	cmd.Env = append(os.Environ(), "GODEBUG="+strings.TrimPrefix(os.Getenv("GODEBUG")+","+preemption, ","))
	cmd.Stdin, cmd.Stderr, cmd.ExtraFiles = in, &stderr, []*os.File{journal}
	if err := child.Start(cmd, 0); err != nil {
		orders.Close()
		return nil, fmt.Errorf("no launch could be begun: %w", err)
	}
	go func() {
		// Wait reports the error if the launch has ended.
		orders.Write(order)
	}()
	end := func() error {
		defer orders.Close()
		err := cmd.Wait()
		if err == nil {
			return nil
		}
		if cmd.ProcessState.ExitCode() == noJournal {
			return errJournal
		}
		return child.Ended(err, stderr.Bytes())
	}
	return running(end, func() {
		orders.Close() // the end of its standard input stops the launch
		time.AfterFunc(patience, func() { cmd.Process.Kill() })
	}), nil
}
