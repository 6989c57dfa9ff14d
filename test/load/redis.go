package main

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"syscall"
)

// A redisFeed is a channel of a Redis.
type redisFeed struct {
	fd      int
	partial []byte
}

func subscribeRedis(hostPort, channel string) (*redisFeed, error) {
	address, err := loopback(hostPort)
	if err != nil {
		return nil, err
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := syscall.Connect(fd, address); err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	if _, errno := rawWrite(fd, redisCommand("SUBSCRIBE", channel)); errno != 0 {
		return nil, fmt.Errorf("redis: %w", errno)
	}
	return &redisFeed{fd: fd}, syscall.SetNonblock(fd, true)
}

// read appends the messages of one read to a batch, each as a frame.
func (r *redisFeed) read(buffer, batch []byte) ([]byte, error) {
	kept := copy(buffer, r.partial)
	n, errno := rawRead(r.fd, buffer[kept:])
	if errno == syscall.EAGAIN || errno == syscall.EINTR {
		return batch, nil
	}
	if errno != 0 || n == 0 {
		return batch, errors.New("redis closed the connection")
	}
	data := buffer[:kept+n]
	for len(data) > 0 {
		payload, size := readReply(data)
		if size == 0 {
			break
		}
		if payload != nil {
			batch = appendServerFrame(batch, opText, payload)
		}
		data = data[size:]
	}
	r.partial = append(r.partial[:0], data...)
	return batch, nil
}

// readReply reads one array of RESP 2: its last string, nil if that is not a string, and the size of the array in bytes; 0 if it is
// incomplete.
func readReply(data []byte) (payload []byte, size int) {
	kind, count, at := readLine(data, 0)
	if kind != '*' {
		return nil, at
	}
	for ; count > 0; count-- {
		var length int
		kind, length, at = readLine(data, at)
		if at == 0 {
			return nil, 0
		}
		payload = nil
		if kind == '$' && length >= 0 {
			if len(data) < at+length+2 {
				return nil, 0
			}
			payload = data[at : at+length]
			at += length + 2
		}
	}
	return payload, at
}

// readLine reads a type, its number and the start of the next line; 0 if the line is incomplete.
func readLine(data []byte, from int) (kind byte, value, next int) {
	end := bytes.Index(data[from:], []byte("\r\n"))
	if end < 1 {
		return 0, 0, 0
	}
	value, _ = strconv.Atoi(string(data[from+1 : from+end]))
	return data[from], value, from + end + 2
}
