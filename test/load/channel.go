package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// loopSeconds is the length of the generated signal, which then repeats.
const loopSeconds = 60

// frameHeader is the size of the header before the samples (gateway/INGEST.md, section 2), bytes.
const frameHeader = 16

// An encoding of samples: its code in the protocol and its bytes.
type encoding struct{ code, bytes int }

var encodings = map[string]encoding{"int16": {1, 2}, "int24": {2, 3}, "int32": {3, 4}, "float32": {4, 4}}

// A channel is the signal that every device sends for one channel of its model.
type channel struct {
	index, perInstant int
	rate              float64 // instants a second
	frameMs           int
	// instants of a frame.
	instants int
	encoding encoding
	// samples of consecutive frames, masked for their position in the frame.
	samples [][]byte
}

// parseChannels reads INDEX:RATE_HZ:NUM_CHANNELS:ENCODING:FRAME_MS, separated by commas.
func parseChannels(text string) ([]*channel, error) {
	var channels []*channel
	for _, word := range strings.Split(text, ",") {
		c, err := parseChannel(word)
		if err != nil {
			return nil, fmt.Errorf("channel %q: %w", word, err)
		}
		channels = append(channels, c)
	}
	return channels, nil
}

func parseChannel(word string) (*channel, error) {
	fields := strings.Split(word, ":")
	if len(fields) != 5 {
		return nil, fmt.Errorf("not INDEX:RATE_HZ:NUM_CHANNELS:ENCODING:FRAME_MS")
	}
	index, err1 := strconv.Atoi(fields[0])
	rate, err2 := strconv.ParseFloat(fields[1], 64)
	perInstant, err3 := strconv.Atoi(fields[2])
	frameMs, err4 := strconv.Atoi(fields[4])
	known, ok := encodings[fields[3]]
	c := &channel{index: index, rate: rate, perInstant: perInstant, frameMs: frameMs, encoding: known}
	c.instants = int(rate * float64(frameMs) / 1000)
	for _, err := range []error{err1, err2, err3, err4} {
		if err != nil {
			return nil, err
		}
	}
	if !ok || index < 0 || index > 255 || perInstant < 1 || perInstant > 16 || frameMs > 60_000 || c.instants < 1 {
		return nil, fmt.Errorf("a value is out of range, or a frame has less than one instant")
	}
	c.makeSamples()
	return c, nil
}

func (c *channel) makeSamples() {
	for k := 0; k < loopSeconds*1000/c.frameMs; k++ {
		var frame []byte
		for i := 0; i < c.instants; i++ {
			t := float64(k*c.instants+i) / c.rate
			for sub := 0; sub < c.perInstant; sub++ {
				frame = appendSample(frame, c.encoding, signal(c.index, sub, t))
			}
		}
		mask(frame, frameHeader)
		c.samples = append(c.samples, frame)
	}
}

// signal is a pulse of 72 bpm with 15 breaths a minute on channel 0, and an accelerometer at rest on all others.
func signal(index, sub int, t float64) float64 {
	if index > 0 {
		return []float64{40, -60, 1000}[sub%3] + 12*math.Sin(2*math.Pi*1.1*t+float64(sub))
	}
	phase := math.Mod(1.2*t, 1)
	bump := func(at, width float64) float64 { return math.Exp(-math.Pow((phase-at)/width, 2)) }
	pulse := bump(.25, .1) + .35*bump(.55, .12)
	breath := math.Sin(2 * math.Pi * .25 * t)
	depth := 300 + 40*float64(sub)
	return 9000 - 60*float64(sub) - depth*pulse*(1+.1*breath) + 80*breath + 5*math.Sin(977*t)
}

func appendSample(out []byte, e encoding, value float64) []byte {
	whole := uint32(int32(value))
	switch e.code {
	case 1:
		return append(out, byte(whole), byte(whole>>8))
	case 2:
		return append(out, byte(whole), byte(whole>>8), byte(whole>>16))
	case 3:
		return binary.LittleEndian.AppendUint32(out, whole)
	}
	return binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(value)))
}

// appendFrame appends a frame of the protocol in a masked WebSocket frame; the samples are already masked.
func appendFrame(out []byte, c *channel, seq uint32, ts float64, samples []byte) []byte {
	out = appendClientHeader(out, opBinary, frameHeader+len(samples))
	start := len(out)
	out = append(out, 1, byte(c.index), byte(c.encoding.code), 0)
	out = binary.LittleEndian.AppendUint32(out, seq)
	out = binary.LittleEndian.AppendUint64(out, math.Float64bits(ts))
	mask(out[start:], 0)
	return append(out, samples...)
}
