package main

import (
	"bytes"
	"flag"
	"fmt"
	"time"
)

// timeMark precedes the time in every message.
var timeMark = []byte(`"t":`)

type subscribeOptions struct {
	url, ready                              string
	publisherURL, protocol, prefix, channel string
	subscribers, atOnce, channels           int
	burst, size, latencyEvery               int
	rate                                    float64
	settle, warm, length, limit             time.Duration
	memoryBursts                            int
	hold                                    time.Duration
	server                                  window
}

func (o *subscribeOptions) parse(mode string, args []string) {
	f := flag.NewFlagSet(mode, flag.ExitOnError)
	f.StringVar(&o.url, "url", "", "subscribers' address: ws://127.0.0.1:PORT/path; {i} is the connection, {c} its channel")
	f.IntVar(&o.subscribers, "n", 500, "subscribers")
	f.IntVar(&o.atOnce, "par", 64, "connections that open at once")
	f.IntVar(&o.channels, "channels", 1, "channels; connection i takes channel i mod channels")
	f.StringVar(&o.ready, "ready", "", "a subscriber is ready once a message has this text; empty: once it is connected")
	f.IntVar(&o.latencyEvery, "lat-every", 1, "read the time of every k-th message")
	f.IntVar(&o.burst, "inflight", 1, "messages published in one write")
	f.Float64Var(&o.rate, "rate", 0, "messages a second (open loop); 0: the next burst once all have the last one (closed loop)")
	f.StringVar(&o.publisherURL, "pub-url", "", "publisher's address")
	f.StringVar(&o.protocol, "pub", "ws", "publisher's protocol: ws, redis (PUBLISH), spublish")
	f.StringVar(&o.prefix, "pub-prefix", "", "text in front of each message ({t} the time, {seq} its number, {c})")
	f.StringVar(&o.channel, "pub-channel", "ch", "channel of redis and spublish ({c})")
	f.IntVar(&o.size, "size", 200, "bytes of a message")
	f.DurationVar(&o.settle, "settle", 200*time.Millisecond, "pause after the last subscription")
	f.DurationVar(&o.warm, "warm", time.Second, "warm-up")
	f.DurationVar(&o.length, "dur", 3*time.Second, "how long is measured")
	f.DurationVar(&o.limit, "connect-limit", 30*time.Second, "time for all connections to get ready")
	f.IntVar(&o.memoryBursts, "mem-publish", 3, "memory: messages to every subscriber before the idle time")
	f.DurationVar(&o.hold, "hold", 5*time.Second, "memory: idle time before it is read")
	serverFlags(f, &o.server)
	must(f.Parse(args))
	if o.subscribers < 1 || o.channels < 1 || o.burst < 1 || o.latencyEvery < 1 || o.atOnce < 1 {
		must(fmt.Errorf("-n, -par, -channels, -inflight and -lat-every are 1 or more"))
	}
}

// serverFlags are the flags for the measurement of the server.
func serverFlags(f *flag.FlagSet, server *window) {
	f.Var(&server.servers, "pids", "the server's processes, whose CPU time is counted")
	f.IntVar(&server.core, "server-core", -1, "the server's core, to see what others do there")
}

// A subscription is a run of the modes subscribe and memory.
type subscription struct {
	options   subscribeOptions
	engine    *engine
	publisher *publisher
	ready     int
	received  uint64
	measures  bool
	// receivedBefore and readsBefore are the counts at the start of the measurement.
	receivedBefore, readsBefore uint64
	latency                     histogram
	out                         results
}

func runSubscribe(mode string, args []string) {
	s := &subscription{engine: newEngine()}
	s.options.parse(mode, args)
	o := &s.options
	s.out = results{"mode": mode, "subscribers": o.subscribers, "burst": o.burst, "rate": o.rate}
	before := o.server.servers.resident()
	s.connect()
	s.engine.runFor(o.settle)
	switch {
	case mode == "memory":
		s.measureMemory(before)
	case o.rate > 0:
		s.keepPace()
	default:
		s.keepTurns()
	}
	s.out["closes"] = s.engine.closes
	s.out.print()
}

func (s *subscription) connect() {
	o := &s.options
	to, err := parseTarget(o.url)
	must(err)
	dial := func(i int) {
		s.engine.dial(to, i, i%o.channels, &subscriber{run: s})
	}
	s.engine.gather(crowd{count: o.subscribers, atOnce: o.atOnce, limit: o.limit}, dial, func() int { return s.ready })
	from, err := parseTarget(o.publisherURL)
	must(err)
	m, err := newMessage(o.protocol, o.channel, o.prefix+insightText(o.size))
	must(err)
	s.publisher, err = dialPublisher(from, m, o.channels)
	must(err)
}

// A subscriber is one connection that counts its messages.
type subscriber struct {
	run      *subscription
	isReady  bool
	messages uint64
}

func (c *subscriber) opened() {
	if c.run.options.ready == "" {
		c.getReady()
	}
}

func (c *subscriber) getReady() {
	c.isReady = true
	c.run.ready++
}

func (c *subscriber) received(data []byte) {
	if c.isReady {
		c.count(data)
	} else if bytes.Contains(data, []byte(c.run.options.ready)) {
		c.getReady()
	}
}

func (c *subscriber) count(text []byte) {
	s := c.run
	c.messages++
	s.received++
	if s.measures && c.messages%uint64(s.options.latencyEvery) == 0 {
		if sent := timeIn(text, timeMark); sent > 0 {
			s.latency.add(now() - sent)
		}
	}
}
