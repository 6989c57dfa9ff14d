package main

import (
	"flag"
	"fmt"
	"time"
)

// pastMs is the age of the first data of a flood.
const pastMs = 24 * 3600 * 1000

type ingestOptions struct {
	url, protocol, channels      string
	feedURL, restURL, key        string
	devices, atOnce, first       int
	feeds, size                  int
	coalesce, unanswered         int
	floods                       bool
	perSecond                    float64
	period, warm, length, linger time.Duration
	limit, spread                time.Duration
	server                       window
}

func (o *ingestOptions) parse(args []string) {
	f := flag.NewFlagSet("ingest", flag.ExitOnError)
	f.StringVar(&o.protocol, "proto", "device", "device: the ingest protocol; sink, echo: bare servers")
	f.StringVar(&o.url, "url", "", "ws://127.0.0.1:PORT/path; {i} is the device's number, e.g. …/stream/ingest?device_id=d-{i}&device_model_id=M&api_key=K")
	f.IntVar(&o.devices, "d", 50, "devices")
	f.IntVar(&o.first, "first", 0, "number of the first device")
	f.IntVar(&o.atOnce, "par", 64, "devices on their way at once")
	f.Float64Var(&o.perSecond, "connect-rate", 0, "devices that connect a second; 0: as fast as they get ready")
	f.DurationVar(&o.limit, "connect-limit", 2*time.Minute, "time for all devices to get ready")
	f.StringVar(&o.channels, "channels", "0:100:1:int24:200", "device: INDEX:RATE_HZ:NUM_CHANNELS:ENCODING:FRAME_MS,…")
	f.DurationVar(&o.spread, "spread", 0, "device: time over which their data begin; 0: a frame, so that windows of all devices end together")
	f.BoolVar(&o.floods, "flood", false, "frames as fast as they are acknowledged, of data that begin a day ago")
	f.IntVar(&o.size, "size", 200, "sink, echo: bytes of a frame")
	f.DurationVar(&o.period, "period", 200*time.Millisecond, "sink, echo: a device sends a frame this often")
	f.IntVar(&o.coalesce, "coalesce", 32, "flood: frames in one write")
	f.IntVar(&o.unanswered, "window", 4000, "flood, sink and echo: frames of a connection without an answer")
	f.StringVar(&o.feedURL, "sub-url", "", "device: subscribe here, too, and tell the delay of insights")
	f.IntVar(&o.feeds, "sub-n", 1, "subscribers there")
	f.StringVar(&o.restURL, "rest", "", "where their stored form is read after the run: http://127.0.0.1:PORT/v1/sessions/{session}/insights")
	f.StringVar(&o.key, "bearer", "", "key for -rest")
	f.DurationVar(&o.warm, "warm", time.Second, "warm-up")
	f.DurationVar(&o.length, "dur", 3*time.Second, "how long is measured")
	f.DurationVar(&o.linger, "linger", 500*time.Millisecond, "how long insights are awaited after the last frame")
	serverFlags(f, &o.server)
	must(f.Parse(args))
	if o.devices < 1 || o.atOnce < 1 || o.coalesce < 1 || o.size < 1 || o.size > maxFrame || o.period <= 0 {
		must(fmt.Errorf("-d, -par, -coalesce, -size and -period are more than 0, a frame at most 1 MiB"))
	}
	if o.restURL != "" {
		must(checkLoopbackURL(o.restURL))
	}
}

// An ingest is a run of the mode.
type ingest struct {
	options  ingestOptions
	engine   *engine
	channels []*channel
	devices  []*device
	bare     []*bareClient
	paces    []*pace
	// message is the frame for bare servers; buffer has the bytes to write next.
	message, buffer   []byte
	ready, feedsReady int
	sessions          map[string]*device
	// floods: data are sent as fast as they are acknowledged, and the flood has begun.
	floods       bool
	maxUnackedMs float64
	measures     bool

	sentFrames, ackedFrames uint64
	// ackedMs is data time, of all channels of a device together, summed over devices.
	ackedMs  float64
	refusals map[string]int
	live     []liveInsight
	echoes   histogram
	// lag is the delay with which frames were sent.
	lag histogram
}

func runIngest(args []string) {
	r := &ingest{engine: newEngine(), sessions: map[string]*device{}, refusals: map[string]int{}, maxUnackedMs: pastMs}
	r.options.parse(args)
	start := now()
	r.connect()
	out := results{"mode": "ingest", "proto": r.options.protocol, "devices": r.options.devices}
	out["connect_s"] = round(float64(now()-start)/1e9, 3)
	results{"event": "connected"}.print()
	r.begin()
	r.runFor(r.options.warm)
	r.measure(out)
	r.readDelays(out)
	out["errors"], out["closes"] = r.refusals, r.engine.closes
	out.print()
}

func (r *ingest) connect() {
	o := &r.options
	to, err := parseTarget(o.url)
	must(err)
	r.subscribe()
	dial := func(i int) { r.dialBare(to, i) }
	switch o.protocol {
	case "device":
		r.channels, err = parseChannels(o.channels)
		must(err)
		dial = func(i int) { r.dialDevice(to, i) }
	case "sink", "echo":
		r.message = bareMessage(o.size)
	default:
		must(fmt.Errorf("-proto is device, sink or echo, not %q", o.protocol))
	}
	all := crowd{count: o.devices, atOnce: o.atOnce, perSecond: o.perSecond, limit: o.limit}
	r.engine.gather(all, dial, func() int { return r.ready })
}

func (r *ingest) subscribe() {
	o := &r.options
	if o.feedURL == "" {
		return
	}
	to, err := parseTarget(o.feedURL)
	must(err)
	dial := func(i int) { r.engine.dial(to, i, 0, &insightFeed{run: r}) }
	r.engine.gather(crowd{count: o.feeds, atOnce: o.atOnce, limit: o.limit}, dial, func() int { return r.feedsReady })
}

func (r *ingest) dialDevice(to target, i int) {
	d := newDevice(r, i)
	d.connection = r.engine.dial(to, r.options.first+i, 0, d)
	r.devices = append(r.devices, d)
}

func (r *ingest) dialBare(to target, i int) {
	b := &bareClient{run: r}
	b.connection = r.engine.dial(to, r.options.first+i, 0, b)
	r.bare = append(r.bare, b)
}

// deviceReady records a session, and uses nine tenths of the limit of unacknowledged data.
func (r *ingest) deviceReady(d *device, maxUnackedMs float64) {
	r.ready++
	r.sessions[d.session] = d
	if maxUnackedMs > 0 && maxUnackedMs*.9 < r.maxUnackedMs {
		r.maxUnackedMs = maxUnackedMs * .9
	}
}

// begin starts the data of all devices, each a little after the previous one.
func (r *ingest) begin() {
	if r.options.floods {
		r.flood()
		return
	}
	start, count := now(), r.options.devices
	if r.options.protocol != "device" {
		period := int64(r.options.period)
		r.paces = []*pace{{start: start, period: period, spread: period, devices: count}}
		return
	}
	frame := int64(r.shortestFrameMs()) * 1e6
	for _, c := range r.channels {
		r.paces = append(r.paces, &pace{start: start, period: int64(c.frameMs) * 1e6, spread: frame, devices: count})
	}
	phases := 1 + int64(r.options.spread-1)/frame
	for i, d := range r.devices {
		d.begin = float64(start+frame*int64(i)/int64(count)+frame*(int64(i)%phases)) / 1e6
	}
}

func (r *ingest) shortestFrameMs() int {
	shortest := r.channels[0].frameMs
	for _, c := range r.channels {
		shortest = least(shortest, c.frameMs)
	}
	return shortest
}

func (r *ingest) flood() {
	r.floods = true
	for _, d := range r.devices {
		d.begin = float64(now())/1e6 - pastMs
		d.fill()
	}
	for _, b := range r.bare {
		b.fill()
	}
}

func (r *ingest) runFor(d time.Duration) {
	for end := now() + int64(d); now() < end; {
		r.engine.step(r.sendDue())
		if len(r.engine.closes) > 0 {
			must(fmt.Errorf("connections were closed: %v, refused: %v", r.engine.closes, r.refusals))
		}
	}
}

// sendDue sends every due frame, and returns the time until the next one, ms.
func (r *ingest) sendDue() int {
	wait := int64(5e6)
	for k, p := range r.paces {
		p.due(now(), func(i int, at int64) {
			r.lag.add(now() - at)
			if r.devices == nil {
				r.bare[i].send()
			} else if d := r.devices[i]; d.hasBegun(d.streams[k], at) {
				d.send(d.streams[k])
			}
		})
		if left := p.at(p.next) - now(); left < wait {
			wait = left
		}
	}
	if wait < 0 {
		return 0
	}
	return int(wait / 1e6)
}

// measure runs for the time of the measurement and returns the figures of the server.
func (r *ingest) measure(out results) {
	sent, acked, ackedMs := r.sentFrames, r.ackedFrames, r.ackedMs
	r.lag = histogram{}
	r.measures = true
	results{"event": "measuring"}.print()
	r.options.server.begin()
	r.runFor(r.options.length)
	results{"event": "measured"}.print()
	for name, value := range r.options.server.end() {
		out[name] = value
	}
	sentNow := float64(r.sentFrames - sent)
	out["sent_frames"], out["acked_frames"] = sentNow, float64(r.ackedFrames-acked)
	out["data_seconds"] = round((r.ackedMs-ackedMs)/1000, 1)
	out["frames_per_s"] = round(per(sentNow, out["window_s"].(float64)), 0)
	out["pacing_lag_ms"] = r.lag.milliseconds()
	out["echo_latency_ms"] = r.echoes.milliseconds()
}

// readDelays waits for the last insights and returns the delays of all.
func (r *ingest) readDelays(out results) {
	o := &r.options
	if o.feedURL == "" {
		return
	}
	r.engine.runFor(o.linger)
	out["insights"] = len(r.live)
	if o.restURL != "" {
		out["delay_ms"] = readDelays(r.live, r.sessions, o.restURL, o.key).report()
	}
}

func least(a, b int) int {
	if a < b {
		return a
	}
	return b
}
