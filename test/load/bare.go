package main

import (
	"bytes"
	"encoding/binary"
	"strconv"
)

// A bareClient sends frames to a server without further logic: a sink, which answers {"ack":N} after every 1,000 frames, or
// an echo.
type bareClient struct {
	run         *ingest
	connection  *connection
	sent, acked uint64
}

// bareMessage is a masked frame of the given size in bytes.
func bareMessage(size int) []byte {
	return appendClientFrame(nil, opBinary, bytes.Repeat([]byte("s"), size))
}

func (b *bareClient) opened() { b.run.ready++ }

func (b *bareClient) received(payload []byte) {
	if b.run.options.protocol == "echo" {
		b.echoed(payload)
		return
	}
	number := bytes.TrimSuffix(bytes.TrimPrefix(payload, []byte(`{"ack":`)), []byte("}"))
	if acked, err := strconv.ParseUint(string(number), 10, 64); err == nil && acked > b.acked {
		b.run.ackedFrames += acked - b.acked
		b.acked = acked
	}
	if b.run.floods {
		b.fill()
	}
}

func (b *bareClient) echoed(payload []byte) {
	b.run.ackedFrames++
	b.acked++
	if b.run.measures && len(payload) >= 8 {
		b.run.echoes.add(now() - int64(binary.LittleEndian.Uint64(payload)))
	}
	if b.run.floods {
		b.fill()
	}
}

// send sends one frame that begins with the time.
func (b *bareClient) send() {
	b.run.buffer = b.append(b.run.buffer[:0])
	b.connection.send(b.run.buffer)
}

func (b *bareClient) append(out []byte) []byte {
	start := len(out)
	out = append(out, b.run.message...)
	payload := out[start+len(b.run.message)-b.run.options.size:]
	if len(payload) >= 8 {
		binary.LittleEndian.PutUint64(payload, uint64(now()))
		mask(payload[:8], 0)
	}
	b.sent++
	b.run.sentFrames++
	return out
}

// fill sends frames up to the limit of unanswered ones.
func (b *bareClient) fill() {
	o := &b.run.options
	for b.sent-b.acked < uint64(o.unanswered) && len(b.connection.unsent) == 0 && b.connection.state == open {
		out := b.run.buffer[:0]
		for k := 0; k < o.coalesce; k++ {
			out = b.append(out)
		}
		b.run.buffer = out
		b.connection.send(out)
	}
}
