// Package process is this process as the system sees it: its CPU time, its CPUs, whether its standard
// output is open, and how a crash ends it.
package process
