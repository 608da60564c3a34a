package main

// Surveys that bring their commands, tables and drawings themselves.
import (
	_ "github.com/taulop/taulop/internal/survey/loaded"
)
