package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// joiners is the number of concurrent readers of stored insights.
	joiners = 8
	// maxStored is the most bytes of one session's stored insights.
	maxStored = 64 << 20
)

// An insightFeed is one subscriber, which records the arrival of each insight. Only the stored form has the window of an insight,
// so that is read after the run.
type insightFeed struct {
	run     *ingest
	isReady bool
}

// A liveInsight is an insight in its live form: `ts` is unique within session and type.
type liveInsight struct {
	Type      string  `json:"type"`
	SessionID string  `json:"session_id"`
	Ts        float64 `json:"ts"`
	at        int64
}

type storedInsight struct {
	Type      string  `json:"type"`
	Ts        float64 `json:"ts"`
	ActualEnd float64 `json:"actual_end"`
}

func (f *insightFeed) opened() {}

func (f *insightFeed) received(text []byte) {
	if !f.isReady {
		f.isReady = true
		f.run.feedsReady++
		return
	}
	live := liveInsight{at: now()}
	if f.run.measures && json.Unmarshal(text, &live) == nil && f.run.sessions[live.SessionID] != nil {
		f.run.live = append(f.run.live, live)
	}
}

// delays of live insights after the frames that completed their windows, in total and by type.
type delays struct {
	sync.Mutex
	all                histogram
	byType             map[string]*histogram
	unmatched, unknown int
}

func (d *delays) add(kind string, ns int64) {
	if d.byType[kind] == nil {
		d.byType[kind] = &histogram{}
	}
	d.byType[kind].add(ns)
	d.all.add(ns)
}

// report includes the numbers of insights that are not in the store (unmatched), and of those whose frame is no longer remembered.
func (d *delays) report() results {
	byType := results{}
	for kind, h := range d.byType {
		byType[kind] = h.milliseconds()
	}
	return results{"all": d.all.milliseconds(), "by_type": byType, "unmatched": d.unmatched, "unknown": d.unknown}
}

// readDelays reads the stored form of every session that was seen live; restURL is its address, with {session} in it.
func readDelays(seen []liveInsight, sessions map[string]*device, restURL, key string) *delays {
	bySession := map[string][]liveInsight{}
	for _, live := range seen {
		bySession[live.SessionID] = append(bySession[live.SessionID], live)
	}
	d := &delays{byType: map[string]*histogram{}}
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: joiners}}
	wanted := make(chan string)
	var readers sync.WaitGroup
	for i := 0; i < joiners; i++ {
		readers.Add(1)
		go func() {
			defer readers.Done()
			for id := range wanted {
				ends := readEnds(client, strings.Replace(restURL, "{session}", id, 1), key)
				d.match(bySession[id], sessions[id], ends)
			}
		}()
	}
	for id := range bySession {
		wanted <- id
	}
	close(wanted)
	readers.Wait()
	return d
}

func (d *delays) match(seen []liveInsight, from *device, ends map[string]float64) {
	d.Lock()
	defer d.Unlock()
	for _, live := range seen {
		end, stored := ends[nameOf(live.Type, live.Ts)]
		completed := from.completedAt(end)
		switch {
		case !stored:
			d.unmatched++
		case completed == 0:
			d.unknown++
		default:
			d.add(live.Type, live.at-completed)
		}
	}
}

// readEnds gives the ends of a session's windows by type and time of publication.
func readEnds(client *http.Client, url, key string) map[string]float64 {
	request, err := http.NewRequest("GET", url, nil)
	must(err)
	request.Header.Set("Authorization", "Bearer "+key)
	response, err := client.Do(request)
	must(err)
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		must(fmt.Errorf("%s answered %s", url, response.Status))
	}
	var stored []storedInsight
	must(json.NewDecoder(io.LimitReader(response.Body, maxStored)).Decode(&stored))
	ends := map[string]float64{}
	for _, insight := range stored {
		ends[nameOf(insight.Type, insight.Ts)] = insight.ActualEnd
	}
	return ends
}

func nameOf(kind string, ts float64) string { return fmt.Sprint(kind, " ", int64(ts)) }
