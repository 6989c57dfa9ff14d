package main

import (
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"flag"
	"fmt"
	"syscall"
)

// The floor is the minimum that a server on one thread can do: no allocation for messages, no JSON, no queues. By path:
//
//	/pub   the frames of one read are sent to every subscriber with one write
//	/sink  frames are unmasked and counted; {"ack":N} after every 1,000
//	/echo  frames are sent back
//	other  a subscriber, dropped once its socket is full
//
// With -redis, it sends the messages of a Redis channel in the same way.
type floor struct {
	epoll, listener int
	// peers by descriptor.
	peers       map[int]*peer
	subscribers []*peer
	buffer      []byte
	batch       []byte
	write       func(fd int, data []byte) (int, syscall.Errno)
	redis       *redisFeed
}

type role byte

const (
	greeting role = iota
	subscribing
	publishing
	sinking
	echoing
)

// A peer is a connection of the floor.
type peer struct {
	fd     int
	role   role
	gone   bool
	frames uint64
	// place in the list of subscribers.
	place   int
	partial []byte
}

func runFloor(args []string) {
	f := flag.NewFlagSet("floor", flag.ExitOnError)
	listen := f.String("listen", "127.0.0.1:18100", "address on this machine")
	redis := f.String("redis", "", "address of a Redis whose -channel is fanned out, too")
	channel := f.String("channel", "ch", "its channel")
	usesWrite := f.Bool("write", false, "write(2), as Node does, in place of send(2)")
	must(f.Parse(args))
	s := &floor{peers: map[int]*peer{}, buffer: make([]byte, readBuffer), write: rawSend}
	if *usesWrite {
		s.write = rawWrite
	}
	must(s.listen(*listen))
	if *redis != "" {
		feed, err := subscribeRedis(*redis, *channel)
		must(err)
		s.redis = feed
		s.watch(feed.fd)
	}
	fmt.Println("floor is listening")
	s.serve()
}

func (s *floor) listen(text string) error {
	address, err := loopback(text)
	if err != nil {
		return err
	}
	if s.epoll, err = syscall.EpollCreate1(syscall.EPOLL_CLOEXEC); err != nil {
		return err
	}
	if s.listener, err = syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0); err != nil {
		return err
	}
	if err := syscall.SetsockoptInt(s.listener, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return err
	}
	if err := syscall.Bind(s.listener, address); err != nil {
		return err
	}
	s.watch(s.listener)
	return syscall.Listen(s.listener, 4096)
}

func (s *floor) watch(fd int) {
	must(syscall.EpollCtl(s.epoll, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(fd)}))
}

func (s *floor) serve() {
	events := make([]syscall.EpollEvent, 1024)
	for {
		count, err := syscall.EpollWait(s.epoll, events, -1)
		if err != nil && err != syscall.EINTR {
			must(err)
		}
		for i := 0; i < count; i++ {
			s.handle(int(events[i].Fd))
		}
	}
}

func (s *floor) handle(fd int) {
	switch {
	case fd == s.listener:
		s.accept()
	case s.redis != nil && fd == s.redis.fd:
		batch, err := s.redis.read(s.buffer, s.batch[:0])
		must(err)
		s.batch = batch
		s.broadcast()
	case s.peers[fd] != nil:
		s.read(s.peers[fd])
	}
}

func (s *floor) accept() {
	for {
		fd, _, err := syscall.Accept4(s.listener, syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC)
		if err != nil {
			return
		}
		_ = syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
		s.peers[fd] = &peer{fd: fd}
		s.watch(fd)
	}
}

func (s *floor) drop(p *peer) {
	if p.gone {
		return
	}
	p.gone = true
	if p.role == subscribing {
		last := len(s.subscribers) - 1
		s.subscribers[p.place] = s.subscribers[last]
		s.subscribers[p.place].place = p.place
		s.subscribers = s.subscribers[:last]
	}
	delete(s.peers, p.fd)
	syscall.Close(p.fd)
}

func (s *floor) read(p *peer) {
	kept := copy(s.buffer, p.partial)
	n, errno := rawRead(p.fd, s.buffer[kept:])
	if errno == syscall.EAGAIN || errno == syscall.EINTR {
		return
	}
	if errno != 0 || n == 0 {
		s.drop(p)
		return
	}
	data := s.buffer[:kept+n]
	if p.role == greeting {
		data = s.greet(p, data)
	}
	s.batch = s.batch[:0]
	data = s.frames(p, data)
	if !p.gone {
		p.partial = append(p.partial[:0], data...)
		s.pass(p)
	}
}

// greet answers an upgrade when its head is complete, and returns the bytes after it.
func (s *floor) greet(p *peer, data []byte) []byte {
	end := endOfHead(data)
	if end < 0 {
		return data
	}
	p.role = roleOf(data)
	if p.role == subscribing {
		p.place = len(s.subscribers)
		s.subscribers = append(s.subscribers, p)
	}
	s.send(p, upgradeAnswer(data[:end]))
	return data[end:]
}

func roleOf(request []byte) role {
	for path, role := range map[string]role{"/pub": publishing, "/sink": sinking, "/echo": echoing} {
		if bytes.HasPrefix(request, []byte("GET "+path)) {
			return role
		}
	}
	return subscribing
}

// frames handles the complete frames of received bytes, and returns the rest.
func (s *floor) frames(p *peer, data []byte) []byte {
	for p.role != greeting && !p.gone {
		f, err := readFrame(data)
		if err != nil || f.op == opClose {
			s.drop(p)
		}
		if f.size == 0 {
			break
		}
		data = data[f.size:]
		s.take(p, f)
	}
	return data
}

func (s *floor) take(p *peer, f frame) {
	switch p.role {
	case publishing, echoing:
		s.batch = appendServerFrame(s.batch, f.op, f.payload)
	case sinking:
		if p.frames++; p.frames%1000 == 0 {
			s.send(p, appendServerFrame(nil, opText, []byte(fmt.Sprintf(`{"ack":%d}`, p.frames))))
		}
	}
}

// pass sends on the frames of one read of a peer.
func (s *floor) pass(p *peer) {
	if p.role == echoing {
		s.send(p, s.batch)
	} else {
		s.broadcast()
	}
}

func (s *floor) broadcast() {
	for i := len(s.subscribers) - 1; i >= 0 && len(s.batch) > 0; i-- {
		s.send(s.subscribers[i], s.batch)
	}
}

func (s *floor) send(p *peer, data []byte) {
	if n, errno := s.write(p.fd, data); errno != 0 || n < len(data) {
		s.drop(p)
	}
}

func upgradeAnswer(request []byte) []byte {
	key := ""
	for _, line := range bytes.Split(request, []byte("\r\n")) {
		if name, value, ok := bytes.Cut(line, []byte(":")); ok && bytes.EqualFold(name, []byte("Sec-WebSocket-Key")) {
			key = string(bytes.TrimSpace(value))
		}
	}
	hash := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return []byte("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " +
		base64.StdEncoding.EncodeToString(hash[:]) + "\r\n\r\n")
}
