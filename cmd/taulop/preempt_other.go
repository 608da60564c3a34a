//go:build !linux

package main

// rerunWithoutPreemption is for measuring, which needs Linux.
func rerunWithoutPreemption() {}
