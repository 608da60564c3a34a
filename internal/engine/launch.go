package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Command is the word that has a program begin as a launch, see Serve.
const Command = "launch"

// noJournal is the exit status of a launch that could not write what it found,
// EX_IOERR of sysexits.
const noJournal = 74

// preemption is what GODEBUG must say before a process begins: a worker in a batch
// of more than 10 ms is not interrupted.
const preemption = "asyncpreemptoff=1"

// A process is a launch in a process of its own.
type process struct {
	cmd    *exec.Cmd
	orders *os.File // an end to it has the launch stop
	stderr bytes.Buffer
	done   chan struct{}
	err    error
	once   sync.Once
}

// start begins this program again as a launch.
func start(o Order, journal *os.File) (Process, error) {
	exe, err := os.Executable()
	if err != nil { // no /proc is mounted
		if exe, err = exec.LookPath(os.Args[0]); err != nil {
			return nil, fmt.Errorf("this program does not find itself to begin it again: %w", err)
		}
	}
	order, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	in, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	p := &process{orders: out, done: make(chan struct{})}
	p.cmd = &exec.Cmd{
		Path: exe, Args: []string{os.Args[0], Command},
		Env:   append(os.Environ(), "GODEBUG="+with(os.Getenv("GODEBUG"))),
		Stdin: in, Stderr: &p.stderr, ExtraFiles: []*os.File{journal},
	}
	if err := p.cmd.Start(); err != nil {
		out.Close()
		return nil, fmt.Errorf("no launch could be begun: %w", err)
	}
	go func() {
		// An error is that of a launch that has ended, which Wait tells.
		out.Write(order)
	}()
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

func with(debug string) string {
	switch {
	case debug == "":
		return preemption
	case strings.Contains(debug, preemption):
		return debug
	}
	return debug + "," + preemption
}

func (p *process) Done() <-chan struct{} { return p.done }

// Err says how the process ended, and what a crash printed first.
func (p *process) Err() error {
	p.Stop()
	<-p.done
	if p.err == nil {
		return nil
	}
	if p.cmd.ProcessState.ExitCode() == noJournal {
		return errJournal
	}
	first, _, _ := strings.Cut(strings.TrimSpace(p.stderr.String()), "\n")
	if first == "" {
		return p.err
	}
	return fmt.Errorf("%w: %.300s", p.err, first)
}

// patience is how long a launch that was asked to stop may take.
const patience = 2 * time.Second

// Stop asks the launch to end, and kills it where it does not.
func (p *process) Stop() {
	p.once.Do(func() {
		p.orders.Close()
		time.AfterFunc(patience, func() {
			select {
			case <-p.done:
			default:
				p.cmd.Process.Kill()
			}
		})
	})
}
