package main

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Placeholders of a message that are filled whenever it is sent; each has the width of its value.
const (
	timePlace    = "%T%%%%%%%%%%%%%%%%%" // ns since the epoch, 19 digits
	numberPlace  = "%S%%%%%%%%"          // the message's number, 10 digits
	channelPlace = "%C%%%"               // 5 digits
)

const firstNumber = 1_000_000_000

// A message is one published message in its wire format, with its placeholders.
type message struct {
	wire                     []byte
	times, numbers, channels []int
	// maskFrom is the start of a WebSocket payload to be masked; 0 for none.
	maskFrom int
}

// insightText is an insight of the live form that contains a time, padded with blanks to a size in bytes.
func insightText(size int) string {
	text := `{"type":"hr","t":` + timePlace + `,"value":72.4,"unit":"bpm","ts":1763700000000,"session_id":"5f0c8a52-7d1e-4c57-9b6e-0a4d1f3c2b11","device_id":"w-` + channelPlace + `","confidence":0.93,"sqi_class":"excellent"`
	if pad := size - len(text) - 1; pad > 0 {
		text += strings.Repeat(" ", pad)
	}
	return text + "}"
}

// newMessage encodes a text for a protocol: ws, redis (PUBLISH) or spublish.
func newMessage(protocol, channel, text string) (message, error) {
	channel, text = places(channel), places(text)
	switch protocol {
	case "ws":
		head := appendClientHeader(nil, opText, len(text))
		return located(append(head, text...), len(head)), nil
	case "redis":
		return located(redisCommand("PUBLISH", channel, text), 0), nil
	case "spublish":
		return located(redisCommand("SPUBLISH", channel, text), 0), nil
	}
	return message{}, fmt.Errorf("unknown protocol %q: choose ws, redis or spublish", protocol)
}

func redisCommand(words ...string) []byte {
	command := fmt.Sprintf("*%d\r\n", len(words))
	for _, word := range words {
		command += fmt.Sprintf("$%d\r\n%s\r\n", len(word), word)
	}
	return []byte(command)
}

// places replaces the placeholders of a flag by ones of full width.
func places(text string) string {
	return strings.NewReplacer("{t}", timePlace, "{seq}", numberPlace, "{c}", channelPlace).Replace(text)
}

func located(wire []byte, maskFrom int) message {
	return message{wire, offsets(wire, timePlace), offsets(wire, numberPlace), offsets(wire, channelPlace), maskFrom}
}

func offsets(wire []byte, place string) []int {
	var found []int
	for from := 0; ; from += len(place) {
		i := bytes.Index(wire[from:], []byte(place))
		if i < 0 {
			return found
		}
		from += i
		found = append(found, from)
	}
}

// append appends the message with its places filled.
func (m message) append(out []byte, at int64, n uint64, channel int) []byte {
	start := len(out)
	out = append(out, m.wire...)
	wire := out[start:]
	for _, i := range m.times {
		strconv.AppendInt(wire[i:i], at, 10)
	}
	for _, i := range m.numbers {
		strconv.AppendUint(wire[i:i], firstNumber+n, 10)
	}
	for _, i := range m.channels {
		putDigits(wire[i:i+len(channelPlace)], channel)
	}
	if m.maskFrom > 0 {
		mask(wire[m.maskFrom:], 0)
	}
	return out
}

// putDigits writes a number with leading zeros.
func putDigits(out []byte, n int) {
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = byte('0' + n%10)
		n /= 10
	}
}

// timeIn reads the time after a mark in a message, ns; 0 if it is missing or incomplete.
func timeIn(text, mark []byte) int64 {
	i := bytes.Index(text, mark)
	if i < 0 {
		return 0
	}
	var t int64
	for _, digit := range text[i+len(mark):] {
		if digit < '0' || digit > '9' {
			return t
		}
		t = t*10 + int64(digit-'0')
	}
	return 0
}
