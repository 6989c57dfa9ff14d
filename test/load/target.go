package main

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"syscall"
)

// A target is the address of connections: ws://HOST:PORT/path or tcp://HOST:PORT. In the path, {i} is the number of the connection
// and {c} the five digits of its channel.
type target struct {
	isWebSocket bool
	host        string
	path        string
	address     *syscall.SockaddrInet4
}

// parseTarget accepts only addresses of this machine.
func parseTarget(text string) (target, error) {
	scheme, rest, _ := strings.Cut(text, "://")
	if scheme != "ws" && scheme != "tcp" {
		return target{}, fmt.Errorf("%q begins with neither ws:// nor tcp://", text)
	}
	host, path := rest, "/"
	if slash := strings.IndexByte(rest, '/'); slash >= 0 {
		host, path = rest[:slash], rest[slash:]
	}
	address, err := loopback(host)
	return target{scheme == "ws", host, path, address}, err
}

// loopback resolves HOST:PORT without DNS: an IPv4 address of this machine, or localhost.
func loopback(hostPort string) (*syscall.SockaddrInet4, error) {
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, err
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	ip := net.ParseIP(host).To4()
	if ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("%s is not 127.0.0.0/8: the load stays on this machine", hostPort)
	}
	number, err := net.LookupPort("tcp", port)
	if err != nil {
		return nil, err
	}
	address := &syscall.SockaddrInet4{Port: number}
	copy(address.Addr[:], ip)
	return address, nil
}

// checkLoopbackURL refuses an http URL of another machine.
func checkLoopbackURL(text string) error {
	parsed, err := url.Parse(text)
	if err == nil {
		_, err = loopback(parsed.Host)
	}
	return err
}

// upgrade is the HTTP request that opens a WebSocket.
func (t target) upgrade(id, channel int) []byte {
	const headers = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n" +
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
	return []byte("GET " + fill(t.path, id, channel) + " HTTP/1.1\r\nHost: " + t.host + "\r\n" + headers)
}

// fill inserts the number of a connection and its channel into a text.
func fill(text string, id, channel int) string {
	return strings.NewReplacer("{i}", fmt.Sprint(id), "{c}", fmt.Sprintf("%05d", channel)).Replace(text)
}
