package main

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestAddressesOffThisMachineAreRefused(t *testing.T) {
	for _, url := range []string{"ws://192.0.2.1:80/", "ws://example.org:80/", "tcp://0.0.0.0:80", "ws://[::1]:80/", "http://127.0.0.1:80/", "ws://127.0.0.1/"} {
		if _, err := parseTarget(url); err == nil {
			t.Errorf("%s was taken", url)
		}
	}
	if err := checkLoopbackURL("http://192.0.2.1/v1/sessions"); err == nil {
		t.Error("an http address off this machine was taken")
	}
	to, err := parseTarget("ws://localhost:8080/stream?id=d-{i}&c={c}")
	if err != nil || !strings.HasPrefix(string(to.upgrade(7, 3)), "GET /stream?id=d-7&c=00003 HTTP/1.1\r\nHost: localhost:8080\r\n") {
		t.Errorf("%v, %s", err, to.upgrade(7, 3))
	}
}

func TestQuantilesAreWithinAPercent(t *testing.T) {
	var h histogram
	for ns := int64(1); ns <= 1_000_000; ns++ {
		h.add(ns)
	}
	for _, share := range []float64{.001, .5, .99, .999} {
		if got := h.quantile(share); math.Abs(got/(share*1e6)-1) > .01 {
			t.Errorf("quantile %v is %v", share, got)
		}
	}
	h.add(math.MaxInt64)
	h.add(-1)
	if h.max != math.MaxInt64 || h.count != 1_000_002 {
		t.Errorf("max %d of %d", h.max, h.count)
	}
}

func TestAPaceGivesEveryDeviceItsTurnOnceAPeriod(t *testing.T) {
	p := &pace{start: 1000, period: 200, spread: 100, devices: 4}
	type turn struct {
		device int
		at     int64
	}
	var turns []turn
	p.due(1450, func(device int, at int64) { turns = append(turns, turn{device, at}) })
	want := []turn{{0, 1200}, {1, 1225}, {2, 1250}, {3, 1275}, {0, 1400}, {1, 1425}, {2, 1450}}
	if len(turns) != len(want) {
		t.Fatal(turns)
	}
	for i := range want {
		if turns[i] != want[i] {
			t.Errorf("turn %d is %v, not %v", i, turns[i], want[i])
		}
	}
}

func TestDevicesBeginWithinOneFrameOrTheSpread(t *testing.T) {
	for _, c := range []struct {
		spread time.Duration
		last   float64
		frames []int
	}{{0, 150, []int{3, 3, 3, 3}}, {time.Second, 750, []int{3, 2, 1, 0}}} {
		channels, err := parseChannels("0:100:1:int24:200")
		must(err)
		r := &ingest{options: ingestOptions{protocol: "device", devices: 4, spread: c.spread}, channels: channels}
		for i := 0; i < 4; i++ {
			r.devices = append(r.devices, newDevice(r, i))
		}
		r.begin()
		if last := r.devices[3].begin - r.devices[0].begin; math.Abs(last-c.last) > .01 {
			t.Errorf("spread %v: the last device begins %v ms after the first", c.spread, last)
		}
		sent := make([]int, 4)
		r.paces[0].due(r.paces[0].start+799e6, func(i int, at int64) {
			if d := r.devices[i]; d.hasBegun(d.streams[0], at) {
				sent[i]++
			}
		})
		for i := range sent {
			if sent[i] != c.frames[i] {
				t.Errorf("spread %v: frames of the devices are %v", c.spread, sent)
				break
			}
		}
	}
}

func TestPublishedMessagesCarryTimeNumberAndChannel(t *testing.T) {
	at := now()
	for _, protocol := range []string{"ws", "redis", "spublish"} {
		m, err := newMessage(protocol, "ch-{c}", "{seq} "+insightText(300))
		if err != nil {
			t.Fatal(err)
		}
		wire := m.append(nil, at, 5, 12)
		if m.maskFrom > 0 {
			f, _ := readFrame(wire)
			wire = f.payload
		}
		if timeIn(wire, timeMark) != at || !strings.Contains(string(wire), "1000000005 {") || !strings.Contains(string(wire), "w-00012") {
			t.Errorf("%s: %s", protocol, wire)
		}
	}
	if _, err := newMessage("mqtt", "", ""); err == nil {
		t.Error("an unknown protocol was taken")
	}
	if len(insightText(200)) != 200 || len(insightText(1000)) != 1000 {
		t.Error(len(insightText(200)), len(insightText(1000)))
	}
}

func TestAnInsightIsMatchedToTheFrameThatCompletedItsWindow(t *testing.T) {
	c, err := parseChannel("0:100:1:int24:200")
	if err != nil {
		t.Fatal(err)
	}
	r := &ingest{channels: []*channel{c}}
	d := newDevice(r, 0)
	d.begin = 1000
	var written []int64
	for k := 0; k < 10; k++ {
		r.buffer = d.append(r.buffer[:0], d.streams[0])
		written = append(written, d.streams[0].sent[k].at)
		time.Sleep(time.Microsecond)
	}
	// Frame 4 ends with the instant at 1990 ms: the window up to 2000 ms is complete.
	if got := d.completedAt(2000); got != written[4] {
		t.Errorf("%d, not %d", got, written[4])
	}
	if d.completedAt(10_000) != 0 {
		t.Error("a frame that was not sent")
	}
}
