package main

import (
	"fmt"
	"syscall"
	"time"
)

// readBuffer is the most bytes of one read(2); an incomplete frame or head waits for the next one.
const readBuffer = 4 << 20

// A handler has the reactions of a mode to the events of a connection.
type handler interface {
	// opened runs when the connection is open (for a WebSocket: after the upgrade).
	opened()
	// received gets a message, or over tcp the bytes of one read. It must not keep the bytes.
	received(payload []byte)
}

// An engine serves all connections on one thread: one level-triggered epoll, and one read(2) into one buffer for each event.
type engine struct {
	epoll       int
	connections []*connection
	buffer      []byte
	events      []syscall.EpollEvent
	reads       uint64
	bytes       uint64
	// open connections, and those that are still being opened.
	open, pending int
	// closes counts the reasons of closed connections.
	closes map[string]int
}

func newEngine() *engine {
	epoll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	must(err)
	events := make([]syscall.EpollEvent, 1024)
	return &engine{epoll: epoll, buffer: make([]byte, readBuffer), events: events, closes: map[string]int{}}
}

// now is the time in ns since the epoch.
func now() int64 { return time.Now().UnixNano() }

// dial starts a connection; the handler is called when it is open.
func (e *engine) dial(to target, id, channel int, h handler) *connection {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
	must(err)
	must(syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1))
	c := &connection{engine: e, fd: fd, index: int32(len(e.connections)), handler: h, wantsOut: true}
	c.request = to.upgrade(id, channel)
	e.connections = append(e.connections, c)
	e.pending++
	if err := syscall.Connect(fd, to.address); err != nil && err != syscall.EINPROGRESS {
		must(fmt.Errorf("connect: %w", err))
	}
	event := syscall.EpollEvent{Events: syscall.EPOLLIN | syscall.EPOLLOUT, Fd: c.index}
	must(syscall.EpollCtl(e.epoll, syscall.EPOLL_CTL_ADD, fd, &event))
	return c
}

// step waits for events up to a time limit, and handles them.
func (e *engine) step(milliseconds int) {
	count, err := syscall.EpollWait(e.epoll, e.events, milliseconds)
	if err == syscall.EINTR {
		return
	}
	must(err)
	for _, event := range e.events[:count] {
		if c := e.connections[event.Fd]; c.state != closed {
			c.handle(event.Events)
		}
	}
}

// runFor steps for a while.
func (e *engine) runFor(d time.Duration) {
	for end := now() + int64(d); now() < end; {
		e.step(10)
	}
}

// runUntil steps until the condition holds, and returns whether it did in time.
func (e *engine) runUntil(condition func() bool, within time.Duration) bool {
	for end := now() + int64(within); !condition(); {
		if now() > end {
			return false
		}
		e.step(10)
	}
	return true
}

// crowd describes how connections are opened: their number, the number that is being opened at the same time, and the rate.
type crowd struct {
	count, atOnce int
	// perSecond 0 means as fast as they become ready.
	perSecond float64
	// limit is the time for all of them.
	limit time.Duration
}

// gather opens a crowd and returns when all are ready; ready counts those that are.
func (e *engine) gather(all crowd, dial func(i int), ready func() int) {
	start := now()
	for dialled := 0; ready() < all.count; {
		for dialled < all.count && dialled-ready() < all.atOnce && all.due(dialled, now()-start) {
			dial(dialled)
			dialled++
		}
		if now()-start > int64(all.limit) || len(e.closes) > 0 {
			must(fmt.Errorf("%d of %d connections got ready in %.1f s; closed: %v", ready(), all.count, float64(now()-start)/1e9, e.closes))
		}
		e.step(5)
	}
}

// due returns whether it is time for the next connection, ns after the start.
func (all crowd) due(dialled int, elapsed int64) bool {
	return all.perSecond <= 0 || float64(dialled) <= float64(elapsed)/1e9*all.perSecond
}
