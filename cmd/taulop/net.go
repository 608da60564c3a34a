package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/slurm"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/survey/network"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// netPort is the default port of -listen.
const netPort = "7415"

// A netRequest holds the flags of net.
type netRequest struct {
	surveyRequest
	listen bool
	to     string
	secret string
	memory int // bytes
	wait   time.Duration
	tam    bool

	request network.Request

	task slurm.Task
	step bool // started by srun
}

// netFlags is the subcommand.
func netFlags(flags *argument.Set) action {
	req := &netRequest{surveyRequest: surveyRequest{name: "net"}}
	req.add(flags)
	return func(ctx context.Context, out io.Writer, errOut *messages, words []string) error {
		machine, err := here()
		if err != nil {
			return err
		}
		if req.task, req.step, err = slurm.Find(os.Getenv); req.listen || req.to != "" {
			req.step = false
		} else if err != nil {
			return usagef("%v", err)
		}
		switch {
		case len(words) == 1 && !req.listen:
			return usagef("there is one argument, the ADDRESS of -listen, got %q", words[0])
		case !req.listen && req.to == "" && !req.step:
			return usagef("a network has two ends: say -listen here and -to THIS-HOST on another, or start both with srun -N 2 --ntasks-per-node=1 taulop net")
		}
		r := &req.request
		// All hosts check the whole request, so that none waits for one that rejects it.
		if err := r.Check(); err != nil {
			return usagef("%v", err)
		}
		if r.Secret, err = req.readSecret(); err != nil {
			return usagef("%v", err)
		}
		if req.listen || req.step && req.task.Rank > 0 {
			address := net.JoinHostPort("", netPort)
			switch {
			case req.step:
				address = net.JoinHostPort("", strconv.Itoa(req.task.Port(req.task.Rank)))
			case len(words) == 1:
				if address, err = withPort(words[0]); err != nil {
					return err
				}
			}
			return req.answer(ctx, errOut, machine, r.Secret, address)
		}
		if r.Targets, err = req.targets(ctx); err != nil {
			return err
		}
		return req.lead(ctx, out, errOut, machine, *r)
	}
}

func (req *netRequest) add(flags *argument.Set) {
	r := &req.request
	r.Sizes = network.Sizes
	flags.BoolVar(&req.listen, "listen", false, "answer one run, on ADDRESS (default all addresses, port "+netPort+"), and end")
	flags.StringVar(&req.to, "to", "", "measure with these hosts, a `list` of HOST or HOST:PORT")
	argument.Var(flags, &r.Sizes, "m", "", "message sizes in bytes, or with a unit, a `list` like 64,8K,1M with doubling ranges: 1K:1M (default nine from 1 to 4M)", argument.Rising(argument.Sizes))
	argument.Var(flags, &r.Taus, "tau", "", "τ, flows at once, a `list` like 1,2,4 with ranges: 2-8, or doubling 1:8 (default 1, 2, 4 … to the CPUs of the smaller host, 8 at the most)", argument.Rising(argument.Taus))
	flags.StringVar(&req.secret, "secret", "", "`file` with a secret that only these hosts know (default one in your home directory, made if missing)")
	argument.Var(flags, &req.memory, "memory", network.DefaultMemory, "memory for messages of all flows on the host that listens, a `size` in bytes or with a unit; a run needs 2·τ·m", argument.Some)
	flags.DurationVar(&req.wait, "wait", time.Minute, "how long to wait for the other hosts")
	flags.BoolVar(&req.tam, "tam", true, "measure the parameters of Tam's model too")
	flags.Rules(
		argument.Rule{Flags: "listen", Not: "to", Why: "and -to are of two hosts", Do: "one listens, the other goes to it"},
		argument.Rule{Flags: "o time launches json m tau tam", Not: "listen", Why: "is of the host with -to, for the host that listens measures nothing and writes no file", Do: "say it there"},
		argument.Rule{Flags: "memory", Not: "to", Why: "bounds what the host that listens takes", Do: "say it there"},
	)
	flags.Check(func() error {
		if !flags.Given("memory") {
			return nil
		}
		return argument.FitsMemory("-memory", flags.Lookup("memory").Value.String())
	})
	req.surveyRequest.add(flags, 20*time.Second, "")
}

func (req *netRequest) readSecret() (network.Secret, error) {
	if req.secret != "" {
		return network.ReadSecret(req.secret, false)
	}
	path, err := network.OwnSecret()
	if err != nil {
		return nil, err
	}
	return network.ReadSecret(path, true)
}

// withPort adds the default port to an address without one.
func withPort(address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		if host = strings.Trim(address, "[]"); strings.Contains(host, ":") && net.ParseIP(host) == nil || host == "" {
			return "", usagef("%q is no address: want HOST, HOST:PORT or [IPv6]:PORT", address)
		}
		return net.JoinHostPort(host, netPort), nil
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", usagef("%q has port %q: want a number from 1 to 65535", address, port)
	}
	return net.JoinHostPort(host, port), nil
}

// answer serves a run that another host leads.
func (req *netRequest) answer(ctx context.Context, errOut *messages, m *numa.Machine, secret network.Secret, address string) error {
	cpus, err := network.CPUs(m)
	if err != nil {
		return err
	}
	l, err := network.Listen(address)
	if err != nil {
		return err
	}
	if !req.step {
		tell(errOut, "listening on %v for %v: start taulop net -to with this host there", l.Addr(), req.wait)
	}
	h := network.Host{Secret: secret, CPUs: cpus, Wait: req.wait, Say: func(err error) { tell(errOut, "%v", err) }}
	h.Facts = network.Facts{Rank: req.task.Rank, CPUs: len(cpus), Memory: req.memory, Provenance: provenance.Read("/", m)}
	return h.Serve(ctx, l)
}

// targets are the other hosts.
func (req *netRequest) targets(ctx context.Context) (targets []network.Target, err error) {
	if req.step {
		for i, host := range req.task.Hosts[1:] {
			address := net.JoinHostPort(slurm.Address(ctx, host), strconv.Itoa(req.task.Port(1+i)))
			targets = append(targets, network.Target{Name: host, Address: address})
		}
		return targets, nil
	}
	for _, host := range strings.Split(req.to, ",") {
		address, err := withPort(strings.TrimSpace(host))
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(targets, func(t network.Target) bool { return t.Address == address }) {
			return nil, usagef("-to has %s twice", host)
		}
		targets = append(targets, network.Target{Name: strings.TrimSpace(host), Address: address})
	}
	return targets, nil
}

// quietWait is the time before a wait is reported.
const quietWait = 3 * time.Second

// lead measures with the targets, and releases them in any case.
func (req *netRequest) lead(ctx context.Context, out io.Writer, errOut *messages, m *numa.Machine, r network.Request) (err error) {
	said := make(chan struct{})
	waits := time.AfterFunc(quietWait, func() {
		defer close(said)
		hosts, how := lists.Map(r.Targets, func(t network.Target) string { return t.Name }), printable.If(!req.step, ": start taulop net -listen there")
		tell(errOut, "waiting up to %v for %s%s", req.wait, printable.List(hosts), how)
	})
	run, err := network.Begin(ctx, r.Targets, r.Secret, req.wait)
	if !waits.Stop() {
		<-said
	}
	if unknown := (network.UnknownError{}); errors.As(err, &unknown) {
		return usagef("%v", err)
	}
	if err != nil {
		return err
	}
	defer func() {
		if err != nil && ctx.Err() == nil {
			err = run.Why(err)
		}
		run.End(err)
	}()
	if r.Run, r.Segment, r.Unread, r.Name = run.ID, run.Segment, run.Unread, run.Interface; len(r.Taus) == 0 {
		r.Taus = run.Taus(m.Allowed.Len())
	}
	if err := run.Fits(r); err != nil {
		return usagef("%v", err)
	}
	if !req.tam {
		r.Segment = 0
	}
	place, err := m.Place(numa.Local, m.Allowed.Len())
	if err != nil {
		return err
	}
	t := survey.Task{Request: r, Places: []numa.Placement{place}, Plan: params.Plan{Policies: []numa.Policy{place.Policy}, Sizes: r.Sizes, Taus: r.Taus}}
	own, _ := os.Hostname()
	of := params.Network{Name: r.Name, Kind: "tcp", Hosts: []string{own}}
	for i, f := range run.Facts {
		if req.step && f.Rank != i+1 {
			return fmt.Errorf("%s has task %d and should have %d: leave the distribution of tasks to srun", r.Targets[i].Name, f.Rank, i+1)
		}
		of.Hosts = append(of.Hosts, r.Targets[i].Name)
		of.Peers = append(of.Peers, params.Peer{Address: r.Targets[i].Address, Packet: run.Segment, Provenance: f.Provenance})
		for _, w := range f.Provenance.Warnings() {
			t.Warnings = append(t.Warnings, fmt.Errorf("%s: %w", r.Targets[i].Name, w))
		}
	}
	if t.Networks = []params.Network{of}; of.Check() != nil {
		return of.Check()
	}
	t.About = []string{fmt.Sprintf("%s, TCP from %s to %s, packets of %d bytes", of.Name, own, strings.Join(of.Hosts[1:], ", "), run.Segment)}
	return req.measure(ctx, out, errOut, m, network.Survey, t, surveyed(network.Survey, t))
}
