package main

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"
)

// A vector is a frame as the SDK encodes it; test/src/load.test.ts makes the file and checks it for drift.
type vector struct {
	Channel  int       `json:"channel"`
	Seq      uint32    `json:"seq"`
	Ts       float64   `json:"ts"`
	Encoding string    `json:"encoding"`
	Samples  []float64 `json:"samples"`
	Hex      string    `json:"hex"`
}

func readVectors(t *testing.T) []vector {
	t.Helper()
	text, err := os.ReadFile("testdata/frames.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	return vectors
}

func TestFramesAreThoseOfTheSDK(t *testing.T) {
	for _, v := range readVectors(t) {
		var samples []byte
		c := &channel{index: v.Channel, encoding: encodings[v.Encoding]}
		for _, sample := range v.Samples {
			samples = appendSample(samples, c.encoding, sample)
		}
		mask(samples, frameHeader)
		f, err := readFrame(appendFrame(nil, c, v.Seq, v.Ts, samples))
		if err != nil || f.op != opBinary {
			t.Fatalf("%v, op %d", err, f.op)
		}
		if got := hex.EncodeToString(f.payload); got != v.Hex {
			t.Errorf("%s %v\n got %s\nwant %s", v.Encoding, v.Samples, got, v.Hex)
		}
	}
}

func TestChannelsOfWholeInstantsAreRead(t *testing.T) {
	channels, err := parseChannels("0:100:1:int24:200,1:50:3:int16:400")
	if err != nil || len(channels) != 2 {
		t.Fatal(channels, err)
	}
	if c := channels[1]; c.instants != 20 || len(c.samples) != 150 || len(c.samples[0]) != 120 {
		t.Errorf("%d instants, %d frames of %d bytes", c.instants, len(c.samples), len(c.samples[0]))
	}
}

func TestChannelsThatMakeNoSenseAreRefused(t *testing.T) {
	for _, text := range []string{"", "0:100:1:int24", "0:1:1:int16:100", "0:100:0:int16:200", "0:100:1:int8:200", "x:100:1:int16:200", "0:100:1:int16:0"} {
		if _, err := parseChannels(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
