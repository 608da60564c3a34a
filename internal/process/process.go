// Package process is what the system says of this process and does with it: how long it ran,
// on which CPUs it goes on, whether its standard output is open, and how a crash ends it.
package process
