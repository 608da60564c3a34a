//go:build !linux

package main

import "github.com/taulop/taulop/numa"

func beginOn(numa.CPUSet) error { return errNoMeasuring }
