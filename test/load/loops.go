package main

import (
	"fmt"
	"runtime"
	"time"
)

const (
	// stallAfter is the time without a message after which the rest of a burst counts as lost.
	stallAfter = time.Second
	maxStalls  = 20
)

// keepTurns publishes the next burst when every subscriber has the last one, so that the server is fully loaded.
func (s *subscription) keepTurns() {
	o := &s.options
	s.out["loop"] = "closed"
	s.turnsFor(o.warm)
	s.begin()
	bursts, lost := s.turnsFor(o.length)
	s.report(lost)
	s.out["bursts"] = bursts
}

// turnsFor makes turns for a while; returns their number, and the number of lost deliveries.
func (s *subscription) turnsFor(d time.Duration) (bursts int, lost uint64) {
	each := uint64(s.options.burst) * uint64(s.options.subscribers) / uint64(s.options.channels)
	stalls := 0
	for end := now() + int64(d); now() < end; bursts++ {
		wanted := s.received + each
		s.publisher.burst(s.options.burst, now())
		if missing := s.await(wanted); missing > 0 {
			lost += missing
			stalls++
		}
		if s.engine.open == 0 || stalls > maxStalls {
			must(fmt.Errorf("the server delivers no more: lost %d, closed %v", lost, s.engine.closes))
		}
	}
	return bursts, lost
}

// await steps until a number of messages have been received; returns the number of missing ones if nothing arrives for a second.
func (s *subscription) await(wanted uint64) uint64 {
	deadline := now() + int64(stallAfter)
	for s.received < wanted {
		before := s.received
		s.engine.step(50)
		if s.received != before {
			deadline = now() + int64(stallAfter)
		} else if now() > deadline {
			return wanted - s.received
		}
	}
	return 0
}

// keepPace publishes at a fixed rate, whatever the server does; a message carries the time at which it was due.
func (s *subscription) keepPace() {
	o := &s.options
	s.out["loop"] = "open"
	before := s.received
	published := make(chan uint64, 1)
	go func() { published <- s.publisher.keepPace(o.burst, o.rate, o.warm+o.length) }()
	s.engine.runFor(o.warm)
	s.begin()
	s.engine.runFor(o.length)
	s.report(0)
	wanted := before + <-published*uint64(o.subscribers)/uint64(o.channels)
	s.engine.runUntil(func() bool { return s.received >= wanted }, 2*time.Second)
	s.out["lost"] = int64(wanted) - int64(s.received)
}

// keepPace publishes at a rate of messages per second, for a while, on its own thread; returns their number.
func (p *publisher) keepPace(burst int, rate float64, d time.Duration) uint64 {
	runtime.LockOSThread()
	start := now()
	for k := 0; ; k++ {
		due := start + int64(float64(k)*float64(burst)/rate*1e9)
		if due >= start+int64(d) {
			return p.sent
		}
		time.Sleep(time.Duration(due - now()))
		p.burst(burst, due)
	}
}

// measureMemory returns the growth of the server's memory for each subscriber, after it was idle for a while.
func (s *subscription) measureMemory(before int) {
	o := &s.options
	for i := 0; i < o.memoryBursts; i++ {
		wanted := s.received + uint64(o.subscribers)
		s.publisher.burst(o.channels, now())
		s.await(wanted)
	}
	o.server.begin()
	s.engine.runFor(o.hold)
	idle := o.server.end()
	s.out["idle_cpu_busy"] = idle["server_busy"]
	s.out["bytes_per_sub_idle"] = (o.server.servers.resident() - before) / o.subscribers
}

func (s *subscription) begin() {
	s.measures = true
	s.receivedBefore, s.readsBefore = s.received, s.engine.reads
	s.options.server.begin()
}

// report returns the deliveries since begin.
func (s *subscription) report(lost uint64) {
	for name, value := range s.options.server.end() {
		s.out[name] = value
	}
	s.measures = false
	deliveries, reads := float64(s.received-s.receivedBefore), float64(s.engine.reads-s.readsBefore)
	s.out["deliveries"], s.out["lost"] = deliveries, lost
	s.out["msgs_per_read"] = round(per(deliveries, reads), 2)
	if cpu, known := s.out["server_cpu_s"].(float64); known {
		s.out["deliveries_per_cpu_s"] = round(per(deliveries, cpu), 0)
	}
	s.out["latency_ms"] = s.latency.milliseconds()
}
