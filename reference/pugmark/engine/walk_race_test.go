//go:build race

package engine

func init() { *walkSteps = 120 } // the race detector makes each several times as slow
