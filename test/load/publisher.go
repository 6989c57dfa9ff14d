package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// A publisher writes bursts of messages, each burst with one write. No engine uses its connection, so that a separate thread can
// keep a pace.
type publisher struct {
	connection net.Conn
	message    message
	channels   int
	sent       uint64
	buffer     []byte
}

// dialPublisher connects.
func dialPublisher(to target, m message, channels int) (*publisher, error) {
	address := net.TCPAddr{IP: to.address.Addr[:], Port: to.address.Port}
	connection, err := net.DialTimeout("tcp", address.String(), 5*time.Second)
	if err != nil {
		return nil, err
	}
	p := &publisher{connection: connection, message: m, channels: channels}
	answers := bufio.NewReader(connection)
	if to.isWebSocket {
		if err := p.upgrade(to, answers); err != nil {
			return nil, err
		}
	}
	go io.Copy(io.Discard, answers)
	return p, nil
}

func (p *publisher) upgrade(to target, answers *bufio.Reader) error {
	p.write(to.upgrade(0, 0))
	answer, err := http.ReadResponse(answers, nil)
	if err == nil && answer.StatusCode != http.StatusSwitchingProtocols {
		err = fmt.Errorf("the publisher's upgrade was answered with %s", answer.Status)
	}
	return err
}

// burst publishes a number of messages with a given time, over the channels in turn.
func (p *publisher) burst(messages int, at int64) {
	p.buffer = p.buffer[:0]
	for i := 0; i < messages; i++ {
		p.buffer = p.message.append(p.buffer, at, p.sent, int(p.sent%uint64(p.channels)))
		p.sent++
	}
	p.write(p.buffer)
}

func (p *publisher) write(data []byte) {
	if _, err := p.connection.Write(data); err != nil {
		must(fmt.Errorf("the publisher: %w", err))
	}
}
