package main

import (
	"math/bits"
)

// stepsPerOctave keeps the error of a quantile below 1 %.
const stepsPerOctave = 64

// A histogram counts times in ns in steps that grow with them.
type histogram struct {
	counts [64 * stepsPerOctave]uint64
	count  uint64
	max    int64
}

// add counts a time; a negative one counts as 0.
func (h *histogram) add(ns int64) {
	if ns < 0 {
		ns = 0
	}
	if ns > h.max {
		h.max = ns
	}
	h.count++
	h.counts[stepOf(uint64(ns))]++
}

func stepOf(ns uint64) int {
	if ns < stepsPerOctave {
		return int(ns)
	}
	octave := bits.Len64(ns) - 7
	return octave*stepsPerOctave + int(ns>>uint(octave))
}

// middleOf is the middle of a step, ns.
func middleOf(step int) float64 {
	if step < 2*stepsPerOctave {
		return float64(step)
	}
	octave := step/stepsPerOctave - 1
	width := float64(uint64(1) << uint(octave))
	return float64(step%stepsPerOctave+stepsPerOctave)*width + width/2
}

// quantile is the time that a share of all does not exceed, ns.
func (h *histogram) quantile(share float64) float64 {
	wanted := uint64(share*float64(h.count)) + 1
	var seen uint64
	for step, count := range h.counts {
		if seen += count; seen >= wanted {
			return middleOf(step)
		}
	}
	return float64(h.max)
}

// milliseconds is the printed form; nil if nothing was counted.
func (h *histogram) milliseconds() results {
	if h.count == 0 {
		return nil
	}
	ms := func(ns float64) float64 { return round(ns/1e6, 3) }
	return results{
		"n": h.count, "p50": ms(h.quantile(.5)), "p90": ms(h.quantile(.9)), "p99": ms(h.quantile(.99)),
		"p999": ms(h.quantile(.999)), "max": ms(float64(h.max)),
	}
}
