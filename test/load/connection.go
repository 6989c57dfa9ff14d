package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"syscall"
	"unsafe"
)

type connectionState uint8

const (
	connecting connectionState = iota
	upgrading
	open
	closed
)

// maxUnsent is the most bytes of one connection that a server may leave unread before the connection is closed.
const maxUnsent = 64 << 20

// A connection of the engine; only the engine's thread touches it.
type connection struct {
	engine   *engine
	handler  handler
	request  []byte
	fd       int
	index    int32
	state    connectionState
	wantsOut bool
	// unsent are the bytes that the kernel has not accepted yet.
	unsent []byte
	// partial is the beginning of a frame, or of the answer to the upgrade.
	partial []byte
}

func (c *connection) handle(events uint32) {
	if c.state == connecting {
		c.connected(events)
		return
	}
	if events&syscall.EPOLLOUT != 0 {
		c.flush()
	}
	if events&(syscall.EPOLLIN|syscall.EPOLLHUP|syscall.EPOLLERR) != 0 && c.state != closed {
		c.read()
	}
}

func (c *connection) connected(events uint32) {
	if events&(syscall.EPOLLERR|syscall.EPOLLHUP) != 0 {
		cause, _ := syscall.GetsockoptInt(c.fd, syscall.SOL_SOCKET, syscall.SO_ERROR)
		c.drop("connect: " + syscall.Errno(cause).Error())
		return
	}
	c.state = upgrading
	c.wantOut(false)
	c.send(c.request)
}

func (c *connection) opened() {
	c.state = open
	c.engine.open++
	c.engine.pending--
	c.handler.opened()
}

func (c *connection) read() {
	kept := copy(c.engine.buffer, c.partial)
	c.partial = c.partial[:0]
	n, errno := rawRead(c.fd, c.engine.buffer[kept:])
	switch {
	case errno == syscall.EAGAIN || errno == syscall.EINTR:
		c.partial = append(c.partial, c.engine.buffer[:kept]...)
		return
	case errno != 0:
		c.drop("read: " + errno.Error())
		return
	case n == 0:
		c.drop("ended by the server")
		return
	}
	c.engine.reads++
	c.engine.bytes += uint64(n)
	c.take(c.engine.buffer[:kept+n])
}

// take handles received bytes, and keeps an incomplete frame.
func (c *connection) take(data []byte) {
	if c.state == upgrading {
		data = c.upgraded(data)
	}
	for c.state == open && len(data) > 0 {
		f, err := readFrame(data)
		if err != nil {
			c.drop(err.Error())
		}
		if f.size == 0 {
			break
		}
		data = data[f.size:]
		c.receive(f)
	}
	if c.state != closed {
		c.partial = append(c.partial, data...)
	}
}

// upgraded reads the answer to the upgrade, and returns the bytes after it.
func (c *connection) upgraded(data []byte) []byte {
	end := endOfHead(data)
	if end < 0 {
		return data
	}
	status, _, _ := bytes.Cut(data, []byte("\r\n"))
	if !bytes.Contains(status, []byte(" 101")) {
		c.drop("answered: " + string(status))
		return nil
	}
	c.opened()
	return data[end:]
}

func (c *connection) receive(f frame) {
	switch f.op {
	case opClose:
		code := uint16(1005)
		if len(f.payload) >= 2 {
			code = binary.BigEndian.Uint16(f.payload)
		}
		c.sendFrame(opClose, f.payload)
		c.drop(fmt.Sprint("closed with ", code))
	case opPing:
		c.sendFrame(opPong, f.payload)
	case opPong:
	default:
		c.handler.received(f.payload)
	}
}

func (c *connection) sendFrame(op byte, payload []byte) { c.send(appendClientFrame(nil, op, payload)) }

// send writes bytes; bytes that the kernel does not accept now wait.
func (c *connection) send(data []byte) {
	if c.state == closed {
		return
	}
	written := 0
	if len(c.unsent) == 0 && c.state != connecting {
		n, errno := rawWrite(c.fd, data)
		if errno != 0 && errno != syscall.EAGAIN && errno != syscall.EINTR {
			c.drop("write: " + errno.Error())
			return
		}
		written = n
	}
	if written == len(data) {
		return
	}
	c.unsent = append(c.unsent, data[written:]...)
	if len(c.unsent) > maxUnsent {
		c.drop("the server does not read")
		return
	}
	c.wantOut(true)
}

func (c *connection) flush() {
	for len(c.unsent) > 0 {
		n, errno := rawWrite(c.fd, c.unsent)
		if errno == syscall.EAGAIN || errno == syscall.EINTR {
			return
		}
		if errno != 0 {
			c.drop("write: " + errno.Error())
			return
		}
		c.unsent = c.unsent[:copy(c.unsent, c.unsent[n:])]
	}
	c.wantOut(false)
}

// wantOut sets whether the kernel reports free space for writing.
func (c *connection) wantOut(wants bool) {
	if c.wantsOut == wants {
		return
	}
	c.wantsOut = wants
	event := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: c.index}
	if wants {
		event.Events |= syscall.EPOLLOUT
	}
	must(syscall.EpollCtl(c.engine.epoll, syscall.EPOLL_CTL_MOD, c.fd, &event))
}

// drop ends the connection and counts the reason.
func (c *connection) drop(why string) {
	if c.state == closed {
		return
	}
	if c.state == open {
		c.engine.open--
	} else {
		c.engine.pending--
	}
	c.state = closed
	c.unsent, c.partial = nil, nil
	c.engine.closes[why]++
	syscall.Close(c.fd)
}

// rawWrite is write(2) on a non-blocking socket, without Go's scheduler.
func rawWrite(fd int, data []byte) (int, syscall.Errno) { return raw(syscall.SYS_WRITE, fd, data, 0) }

// rawRead is read(2) in the same way.
func rawRead(fd int, data []byte) (int, syscall.Errno) { return raw(syscall.SYS_READ, fd, data, 0) }

// rawSend is send(2), which avoids the file layer of write(2).
func rawSend(fd int, data []byte) (int, syscall.Errno) {
	return raw(syscall.SYS_SENDTO, fd, data, syscall.MSG_DONTWAIT|syscall.MSG_NOSIGNAL)
}

func raw(call uintptr, fd int, data []byte, flags uintptr) (int, syscall.Errno) {
	if len(data) == 0 {
		return 0, 0
	}
	n, _, errno := syscall.RawSyscall6(call, uintptr(fd), uintptr(unsafe.Pointer(&data[0])), uintptr(len(data)), flags, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}
