package main

// A pace schedules the frames of many devices: each is due once in a period, one after the other within the spread, so that frames
// do not arrive all at once.
type pace struct {
	start, period, spread int64 // ns
	devices               int
	next                  int
}

// at is the time at which the n-th frame is due: the device's first one is complete a period after its data begin.
func (p *pace) at(n int) int64 {
	round, device := int64(n/p.devices), int64(n%p.devices)
	return p.start + p.period*(1+round) + p.spread*device/int64(p.devices)
}

// due calls send for every device whose frame is due.
func (p *pace) due(time int64, send func(device int, at int64)) {
	for p.at(p.next) <= time {
		send(p.next%p.devices, p.at(p.next))
		p.next++
	}
}
