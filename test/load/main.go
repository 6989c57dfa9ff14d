// Load generates load on the sockets of the Device Insights Service over loopback. It prints JSON, one object a line: with devices
// the events connected, measuring and measured, and at the end the results.
//
// One thread and one epoll serve all connections, so that the client costs as little as Linux allows and 5,000 devices fit on
// one core. It needs Linux and nothing but Go's standard library.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
)

// A mode gets the arguments after its name.
var modes = map[string]func(args []string){
	"subscribe": func(args []string) { runSubscribe("subscribe", args) },
	"memory":    func(args []string) { runSubscribe("memory", args) },
	"ingest":    runIngest,
	"floor":     runFloor,
}

const usage = `usage: load MODE -h
  subscribe  subscribers and one publisher: deliveries a second and a CPU-second of the server, latency
  memory     idle subscribers: bytes of the server's memory each
  ingest     devices: frames a second, CPU of the server, delay of the insights
  floor      the least that a server can do: raw epoll, one write a subscriber and turn`

func main() {
	runtime.LockOSThread()
	debug.SetGCPercent(400)
	if len(os.Args) > 1 {
		if run, known := modes[os.Args[1]]; known {
			run(os.Args[2:])
			return
		}
	}
	fmt.Fprintln(os.Stderr, usage)
	os.Exit(2)
}

// must ends the process with one line if there is an error.
func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

// results is the output of a mode: one JSON object.
type results map[string]any

func (r results) print() {
	line, err := json.Marshal(r)
	must(err)
	fmt.Println(string(line))
}
