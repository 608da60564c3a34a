//go:build !linux

package main

func checkLimits(bool) error { return nil }
