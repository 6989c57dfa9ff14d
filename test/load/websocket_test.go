package main

import (
	"bytes"
	"testing"
)

func TestFramesOfEveryLengthComeBack(t *testing.T) {
	for _, length := range []int{0, 1, 125, 126, 65535, 65536, maxFrame} {
		payload := bytes.Repeat([]byte("abc"), length)[:length]
		for name, whole := range map[string][]byte{
			"client": appendClientFrame(nil, opText, payload),
			"server": appendServerFrame(nil, opText, payload),
		} {
			for _, short := range []int{0, 1, 5, len(whole) - 1} {
				if f, err := readFrame(append([]byte{}, whole[:least(short, len(whole)-1)]...)); f.size != 0 || err != nil {
					t.Errorf("%s, %d bytes of %d: %v %v", name, short, len(whole), f.size, err)
				}
			}
			f, err := readFrame(append([]byte{}, whole...))
			if err != nil || f.op != opText || f.size != len(whole) || !bytes.Equal(f.payload, payload) {
				t.Errorf("%s, length %d: op %d, size %d, %v", name, length, f.op, f.size, err)
			}
		}
	}
}

func TestAFrameLargerThanTheLimitIsRefused(t *testing.T) {
	for _, head := range [][]byte{
		{0x82, 127, 0, 0, 0, 0, 0, 0x10, 0, 1},
		{0x82, 127, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
	} {
		if _, err := readFrame(head); err == nil {
			t.Errorf("% x was taken", head)
		}
	}
}

func FuzzFrames(f *testing.F) {
	f.Add(appendClientFrame(nil, opBinary, []byte("payload")))
	f.Fuzz(func(t *testing.T, data []byte) {
		if read, err := readFrame(data); err == nil && read.size > len(data) {
			t.Errorf("%d bytes of %d", read.size, len(data))
		}
	})
}

func TestRepliesOfRedisAreReadWhole(t *testing.T) {
	message := redisCommand("message", "ch", "text")
	for size := 0; size < len(message); size++ {
		if _, used := readReply(message[:size]); used != 0 {
			t.Errorf("%d bytes of %d were taken for a whole reply", size, len(message))
		}
	}
	payload, used := readReply(append(message, "*3"...))
	if string(payload) != "text" || used != len(message) {
		t.Errorf("%q, %d", payload, used)
	}
	if payload, used := readReply([]byte("*3\r\n$9\r\nsubscribe\r\n$2\r\nch\r\n:1\r\n")); payload != nil || used != 31 {
		t.Errorf("%q, %d", payload, used)
	}
}
