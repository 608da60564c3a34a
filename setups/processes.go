package setups

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/child"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/reduce"
	"github.com/taulop/taulop/shm"
)

// WorkerCommand is the argument that starts a program as a worker, see ServeWorker.
const WorkerCommand = "worker"

// workerVariable is set in the environment of workers.
const workerVariable = "TAULOP_WORKER"

// workerSlack is how late the timers of workers' processes may be. The monitor thread that the Go runtime has in
// each wakes every 20 µs in the first milliseconds after its process was idle, on a CPU of the workers. With
// this slack it wakes with the kernel's tick (4 ms at 250 Hz). Where workers are threads there is one monitor
// for all, and its delay would cost more launches than its noise does.
const workerSlack = 4 * time.Millisecond

// processes are the workers of a team as processes. Each worker and the parent lay out the same shared
// memory in the same order, and so have the same barrier, clock and channels. A worker's user buffers
// are its private memory, which other workers read by single copies.
type processes struct {
	shared  *shm.Shared
	head    *shm.Region // stop, steps, and by worker the addresses of its buffers
	ids     []int       // of processes, by worker
	members []*member   // in the parent only
}

// The head's layout, in bytes.
const (
	headStop = 128 * iota
	headSteps
	headAddresses
)

// rankBuffers is the number of buffers of a rank, by collective.Buffer.
const rankBuffers = 3

// addresses are the addresses of a worker's buffers in its process.
func (p *processes) addresses(worker int) []atomic.Uint64 {
	return shm.Values[atomic.Uint64](p.head.Bytes(), headAddresses+worker*128, rankBuffers)
}

// A member is a worker's process, for the parent.
type member struct {
	cmd     *exec.Cmd
	orders  io.WriteCloser
	answers io.Closer // the pipe of replies
	replies *json.Decoder
	stderr  bytes.Buffer
	ended   chan struct{} // closed when the process has ended
	how     error         // then: its exit error
}

// A hello is the first message to a worker's process.
type hello struct {
	Worker    int            `json:"worker"`
	Placement numa.Placement `json:"placement"`
}

// An order tells a worker's process to take part in a Collective.
type order struct {
	Processes  []int           `json:"processes"`
	Epoch      int64           `json:"epoch"`
	Huge       bool            `json:"huge"`
	Algorithm  string          `json:"algorithm"`
	Call       collective.Call `json:"call"`
	Operator   string          `json:"operator"`
	Collective `json:"collective"`
}

// A reply is a worker process's answer to a hello or an order.
type reply struct {
	Thread int    `json:"thread,omitempty"` // the pinned one
	Error  string `json:"error,omitempty"`
	Waited string `json:"waited,omitempty"` // it was told to stop while it waited for this
	Rounds int    `json:"rounds,omitempty"`
	Late   []int  `json:"late,omitempty"`

	Looks []float64 `json:"looks_ns,omitempty"`
	// Computed is this worker's bracket.computed.
	Computed float64 `json:"computed,omitempty"`
	// Loads of the worker's arenas, so far, and their number.
	Loads  params.Loads `json:"loads,omitzero"`
	Arenas int          `json:"arenas,omitempty"`
}

func (r reply) err() error {
	switch {
	case r.Waited != "":
		return gaveUp{r.Waited}
	case r.Error != "":
		return errors.New(r.Error)
	}
	return nil
}

// died is the error of a worker whose process has ended, which makes its team unusable.
type died struct{ error }

// NewProcesses starts the workers of a placement, each as a process: this program with the argument
// WorkerCommand. Such a team carries out only Collectives. If a process dies the team becomes unusable,
// and the error names the worker.
func NewProcesses(p numa.Placement) (*Team, error) {
	if len(p.Workers) == 0 {
		return nil, errNoWorkers
	}
	shared, err := shm.NewShared()
	if err != nil {
		return nil, err
	}
	t, err := sharing(shared, p)
	if err != nil {
		return nil, errors.Join(err, shared.Close())
	}
	t.restore = quiet(len(p.Workers))
	for _, w := range t.workers {
		if err := t.processes.begin(hello{w.id, p}); err != nil {
			t.Close()
			return nil, err
		}
	}
	for _, w := range t.workers {
		first, err := t.processes.members[w.id].reply(w)
		if err == nil {
			w.thread, err = first.Thread, first.err()
		}
		if err != nil {
			t.Close()
			return nil, err
		}
		go func() {
			for tk := range w.tasks {
				w.err = t.processes.carryOut(t, w, tk)
				w.done <- struct{}{}
			}
		}()
	}
	return t, nil
}

// sharing returns a team of processes over shared memory, for the parent or for one of them.
func sharing(shared *shm.Shared, p numa.Placement) (*Team, error) {
	head, err := shared.Map(headAddresses + len(p.Workers)*128)
	if err != nil {
		return nil, err
	}
	shared.Keep()
	t := newTeam(p, shm.At[atomic.Bool](head.Bytes(), headStop))
	t.processes, t.memory.shared = &processes{shared: shared, head: head}, shared
	return t, nil
}

// begin starts a worker's process.
func (p *processes) begin(h hello) error {
	if os.Getenv(workerVariable) != "" { // a program that ignores WorkerCommand must not start itself for ever
		return errors.New("a worker begins no workers")
	}
	cmd, err := child.Command(WorkerCommand)
	if err != nil {
		return err
	}
	m := &member{cmd: cmd, ended: make(chan struct{})}
	cmd.Env, cmd.Stderr, cmd.ExtraFiles = append(os.Environ(), workerVariable+"=1"), &m.stderr, []*os.File{p.shared.File()}
	if m.orders, err = m.cmd.StdinPipe(); err != nil {
		return err
	}
	replies, answers, err := os.Pipe()
	if err != nil {
		return err
	}
	m.cmd.Stdout = answers
	m.answers, m.replies = replies, json.NewDecoder(replies)
	err = child.Start(m.cmd, workerSlack)
	answers.Close()
	if err != nil {
		replies.Close()
		return fmt.Errorf("no process of a worker could be begun: %w", err)
	}
	p.members, p.ids = append(p.members, m), append(p.ids, m.cmd.Process.Pid)
	go func() {
		defer close(m.ended)
		m.how = m.cmd.Wait()
	}()
	return json.NewEncoder(m.orders).Encode(h)
}

// reply waits for the reply of a worker's process. It fails if the process died.
func (m *member) reply(w *worker) (r reply, err error) {
	if err = m.replies.Decode(&r); err == nil {
		return r, nil
	}
	select {
	case <-m.ended:
		err = m.how
	case <-time.After(stopAfter):
	}
	return r, died{fmt.Errorf("worker %d on CPU %d, process %d, died: %w", w.id, w.cpu, m.cmd.Process.Pid, child.Ended(err, m.stderr.Bytes()))}
}

// carryOut has a worker's process do its part of a task.
func (p *processes) carryOut(t *Team, w *worker, tk task) error {
	run, ok := tk.(*performance)
	if !ok {
		return errors.New("workers that are processes carry out collectives alone")
	}
	m := p.members[w.id]
	json.NewEncoder(m.orders).Encode(run.order()) // fails if the process has died, and reply says how
	r, err := m.reply(w)
	if err != nil { // the other workers would wait for the lost one
		t.stop.Store(true)
		return err
	}
	if w.id == 0 {
		run.rounds, run.late, run.looks = r.Rounds, r.Late, r.Looks
	}
	if w.id < len(run.computed) {
		run.computed[w.id] = r.Computed
	}
	w.loads, w.loads.Buffers = r.Loads, r.Arenas
	return r.err()
}

func (p *processes) close() {
	if p == nil {
		return
	}
	for _, m := range p.members {
		m.orders.Close() // which ends the worker
	}
	for _, m := range p.members {
		select {
		case <-m.ended:
		case <-time.After(stopAfter):
			m.cmd.Process.Kill()
			<-m.ended
		}
		m.answers.Close()
	}
	p.head.Close()
	p.shared.Close()
}

// enlist begins a measurement, whose memory is mapped anew.
func (p *processes) enlist(m *measurement) error {
	m.steps = shm.At[atomic.Uint64](p.head.Bytes(), headSteps)
	for _, w := range m.team.workers { // the shared memory was replaced
		w.start, w.finish = nil, nil
	}
	return p.shared.Rewind()
}

// shareClock puts the announced moments and the workers' times into shared memory.
func (p *processes) shareClock(m *measurement) error {
	rounds := len(m.started)
	r, err := m.region(key{of: meeting, side: 1}, 128+8*rounds*(1+2*len(m.workers)), fresh, nil)
	if err != nil {
		return err
	}
	times := func(i int) []time.Duration { return shm.Values[time.Duration](r.mem, 128+8*rounds*i, rounds) }
	m.byProcess, m.moment, m.started = true, shm.At[atomic.Int64](r.mem, 0), times(0)
	for i, w := range m.workers {
		w.start, w.finish = times(1+2*i), times(2+2*i)
	}
	return nil
}

// keepClock copies times out of the shared memory before it is unmapped.
func (m *measurement) keepClock() {
	m.started = slices.Clone(m.started)
	for _, w := range m.workers {
		w.start, w.finish = slices.Clone(w.start), slices.Clone(w.finish)
	}
}

func (p *performance) order() order {
	o := order{Processes: p.team.processes.ids, Epoch: p.since, Huge: p.team.Huge, Algorithm: p.Schedule.Algorithm.String(), Call: p.Schedule.Call, Collective: p.Collective}
	if p.Operator != nil {
		o.Operator = p.Operator.Name
	}
	return o
}

func (o order) collective() (c Collective, err error) {
	a := collective.PatternNamed(o.Algorithm)
	if a == nil {
		if a, err = collective.Lookup(o.Algorithm); err != nil {
			return c, err
		}
	}
	c = o.Collective
	if o.Operator != "" {
		operator, err := reduce.Lookup(o.Operator)
		if err != nil {
			return c, err
		}
		c.Operator = &operator
	}
	c.Schedule, err = a.Schedule(o.Call)
	return c, err
}

// ServeWorker is the main function of a worker of a team of processes, and returns its exit status. It
// reads orders from standard input, writes replies to standard output, and shares the memory of file
// descriptor 3. It ends at the end of standard input, and leaves signals to its parent.
func ServeWorker() (status int) {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	if err := serveWorker(); err != nil {
		fmt.Fprintf(os.Stderr, "taulop: %v\n", err)
		return 1
	}
	return 0
}

func serveWorker() error {
	orders, replies := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	var h hello
	if err := orders.Decode(&h); err != nil || h.Worker < 0 || h.Worker >= len(h.Placement.Workers) {
		return fmt.Errorf("a worker is begun by a measurement, not by hand: %v", err)
	}
	shm.AllowFetches()
	t, err := sharing(shm.OpenShared(os.NewFile(3, "shared")), h.Placement)
	if err != nil {
		return err
	}
	t.restore = quiet(1)
	w, pinned := t.workers[h.Worker], make(chan error)
	go w.work(pinned)
	if err := <-pinned; err != nil {
		return replies.Encode(reply{Error: err.Error()})
	}
	if err := replies.Encode(reply{Thread: w.thread}); err != nil {
		return err
	}
	next := make(chan order)
	go func() {
		for {
			var o order
			if orders.Decode(&o) != nil {
				os.Exit(0) // its parent has ended, or has no more orders
			}
			next <- o
		}
	}()
	for o := range next {
		if err := replies.Encode(t.obey(w, o)); err != nil {
			return err
		}
	}
	return nil
}

// obey has this process's worker do its part of an order.
func (t *Team) obey(w *worker, o order) (r reply) {
	t.processes.ids, t.Huge = o.Processes, o.Huge
	c, err := o.collective()
	if err == nil {
		var run *performance
		run, err = t.lay(c)
		if err == nil {
			run.epoch = here(o.Epoch)
			w.tasks <- run
			<-w.done
			err, r.Rounds, r.Late, r.Looks, r.Computed = w.err, run.rounds, run.late, run.looks, slices.Max(run.computed[:])
			r.Loads, r.Arenas = w.loads, w.loads.Buffers
		}
		run.unmap()
	}
	if err != nil {
		t.memory.forget()
		var stopped gaveUp
		if errors.As(err, &stopped) {
			r.Waited = stopped.waitedFor
		} else {
			r.Error = err.Error()
			t.stop.Store(true) // the other workers would wait for the lost one
		}
	}
	return r
}

// here converts a moment of the system's clock to a time of this process.
func here(monotonic int64) time.Time { return began.Add(time.Duration(monotonic - system())) }

// began is a time of this process, and system the reading of the system's clock at that time. Both are
// the same clock, and many pairs of readings narrow the offset to a few nanoseconds: messages between
// processes take a hundred.
var (
	began  = time.Now()
	system = sync.OnceValue(func() int64 {
		least, most := int64(math.MinInt64), int64(math.MaxInt64)
		for range 2000 {
			before := time.Since(began)
			now := shm.Monotonic()
			after := time.Since(began)
			least, most = max(least, now-int64(after)), min(most, now-int64(before))
		}
		return least + (most-least)/2
	})
)
