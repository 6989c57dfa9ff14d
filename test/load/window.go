package main

import "math"

// A window has the counts between two moments: of the server, of its core and of this process.
type window struct {
	servers processes
	core    int
	from    moment
}

// A moment has the counts at one time.
type moment struct {
	at                  int64
	server, own, onCore float64
}

func (w *window) now() moment {
	return moment{now(), w.servers.cpu(), ownCPU(), coreBusy(w.core)}
}

// begin starts the window.
func (w *window) begin() { w.from = w.now() }

// end returns the figures of the window up to now: its seconds, and CPU seconds per second.
func (w *window) end() results {
	to := w.now()
	seconds := float64(to.at-w.from.at) / 1e9
	server := to.server - w.from.server
	out := results{"window_s": round(seconds, 3), "client_busy": round((to.own-w.from.own)/seconds, 3)}
	if len(w.servers) > 0 {
		out["server_cpu_s"] = round(server, 3)
		out["server_busy"] = round(server/seconds, 3)
	}
	if w.core >= 0 {
		out["foreign_on_server_core"] = round((to.onCore-w.from.onCore-server)/seconds, 3)
	}
	return out
}

// per divides, or returns 0 for a division by 0.
func per(amount, divisor float64) float64 {
	if divisor <= 0 {
		return 0
	}
	return amount / divisor
}

func round(x float64, digits int) float64 {
	scale := math.Pow(10, float64(digits))
	return math.Round(x*scale) / scale
}
