package main

import (
	"encoding/json"
	"strconv"
)

// keptFrames is the number of sent frames that a channel remembers, for the delay of insights: 100 s of frames of 200 ms.
const keptFrames = 512

// A device speaks the ingest protocol (gateway/INGEST.md).
type device struct {
	run        *ingest
	connection *connection
	session    string
	streams    []*stream
	// begin is the data time of number 0, ms since the epoch.
	begin float64
	acked uint64
}

// A stream is the data of one channel of one device.
type stream struct {
	channel *channel
	// next and acked are numbers of instants; place is the next frame of the signal.
	next, acked uint32
	place       int
	sent        [keptFrames]sentFrame
	frames      int
}

// A sentFrame records the time at which data were sent.
type sentFrame struct {
	// last is the data time of the last instant, ms since the epoch; at is when it was written, ns.
	last float64
	at   int64
}

func newDevice(run *ingest, number int) *device {
	d := &device{run: run}
	for _, c := range run.channels {
		d.streams = append(d.streams, &stream{channel: c, place: number * 37 % len(c.samples)})
	}
	return d
}

func (d *device) opened() {}

// A serverMessage is any message to a device.
type serverMessage struct {
	Type      string            `json:"type"`
	SessionID string            `json:"session_id"`
	NextSeq   map[string]uint32 `json:"next_seq"`
	Code      string            `json:"code"`
	Limits    struct {
		MaxUnackedMs float64 `json:"max_unacked_ms"`
	} `json:"limits"`
}

func (d *device) received(text []byte) {
	var m serverMessage
	if json.Unmarshal(text, &m) != nil {
		d.run.refusals["not JSON"]++
		return
	}
	switch m.Type {
	case "ready":
		d.session = m.SessionID
		d.run.deviceReady(d, m.Limits.MaxUnackedMs)
	case "ack":
		d.acknowledged(m.NextSeq)
	case "error", "notice":
		d.run.refusals[m.Type+" "+m.Code]++
	}
}

func (d *device) acknowledged(next map[string]uint32) {
	for _, s := range d.streams {
		if number, named := next[strconv.Itoa(s.channel.index)]; named && number > s.acked {
			d.run.ackedMs += float64(number-s.acked) / s.channel.rate * 1000 / float64(len(d.streams))
			d.run.ackedFrames += uint64(number-s.acked) / uint64(s.channel.instants)
			s.acked = number
		}
	}
	if d.run.floods {
		d.fill()
	}
}

// hasBegun says whether the data that a stream's frame of a time (ns) needs have begun; half a millisecond allows for rounding.
func (d *device) hasBegun(s *stream, at int64) bool {
	return float64(at)/1e6 >= d.begin+float64(s.channel.frameMs)-0.5
}

// send sends a stream's next frame.
func (d *device) send(s *stream) {
	d.run.buffer = d.append(d.run.buffer[:0], s)
	d.connection.send(d.run.buffer)
}

func (d *device) append(out []byte, s *stream) []byte {
	c := s.channel
	ts := d.begin + float64(s.next)/c.rate*1000
	out = appendFrame(out, c, s.next, ts, c.samples[s.place])
	s.place = (s.place + 1) % len(c.samples)
	s.next += uint32(c.instants)
	s.sent[s.frames%keptFrames] = sentFrame{ts + float64(c.instants-1)/c.rate*1000, now()}
	s.frames++
	d.run.sentFrames++
	return out
}

// fill sends past data up to the limits, the stream that is furthest behind first.
func (d *device) fill() {
	for len(d.connection.unsent) == 0 && d.connection.state == open {
		out := d.run.buffer[:0]
		for frames := 0; frames < d.run.options.coalesce; frames++ {
			s := d.behind()
			if !d.mayFill(s) {
				break
			}
			out = d.append(out, s)
		}
		d.run.buffer = out
		if len(out) == 0 {
			return
		}
		d.connection.send(out)
	}
}

func (d *device) behind() *stream {
	furthest := d.streams[0]
	for _, s := range d.streams[1:] {
		if s.dataMs(s.next) < furthest.dataMs(furthest.next) {
			furthest = s
		}
	}
	return furthest
}

// mayFill observes the limit of unacknowledged data, and leaves out the last second.
func (d *device) mayFill(s *stream) bool {
	unacked := s.dataMs(s.next-s.acked) + float64(s.channel.frameMs)
	return unacked <= d.run.maxUnackedMs && d.begin+s.dataMs(s.next) < float64(now())/1e6-1000
}

func (s *stream) dataMs(instants uint32) float64 { return float64(instants) / s.channel.rate * 1000 }

// completedAt is the time, ns, by which all frames of a window that ends at a data time (ms) had been written; 0 if it is no longer
// known.
func (d *device) completedAt(end float64) int64 {
	var latest int64
	for _, s := range d.streams {
		at := s.coveredAt(end)
		if at == 0 {
			return 0
		}
		if at > latest {
			latest = at
		}
	}
	return latest
}

// coveredAt is the time at which the first frame was written that reaches a data time; half an instant allows for rounding.
func (s *stream) coveredAt(end float64) int64 {
	first := s.frames - keptFrames
	if first < 0 {
		first = 0
	}
	for k := first; k < s.frames; k++ {
		if f := s.sent[k%keptFrames]; f.last >= end-1.5*1000/s.channel.rate {
			if k == first && k > 0 {
				return 0 // It may have been an earlier one.
			}
			return f.at
		}
	}
	return 0
}
