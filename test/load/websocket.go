package main

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// Frames of RFC 6455, section 5.2. The masking key is fixed, but not zero, because ws skips unmasking with zeros.
var maskingKey = [4]byte{0x5a, 0xc3, 0x17, 0x9e}

const (
	opText   = 1
	opBinary = 2
	opClose  = 8
	opPing   = 9
	opPong   = 10
)

// maxFrame is the largest frame of a peer, bytes; the read buffer of the engine has room for one.
const maxFrame = 1 << 20

var errFrameTooLarge = errors.New("a frame larger than 1 MiB")

// appendClientHeader appends the header of a masked frame; the payload is to be masked by mask.
func appendClientHeader(out []byte, op byte, length int) []byte {
	return append(appendHeader(out, op, 0x80, length), maskingKey[:]...)
}

// appendClientFrame appends a whole masked frame.
func appendClientFrame(out []byte, op byte, payload []byte) []byte {
	out = appendClientHeader(out, op, len(payload))
	start := len(out)
	out = append(out, payload...)
	mask(out[start:], 0)
	return out
}

// appendServerFrame appends a whole frame as servers send it, without a mask.
func appendServerFrame(out []byte, op byte, payload []byte) []byte {
	return append(appendHeader(out, op, 0, len(payload)), payload...)
}

func appendHeader(out []byte, op, maskBit byte, length int) []byte {
	out = append(out, 0x80|op)
	switch {
	case length < 126:
		return append(out, maskBit|byte(length))
	case length < 1<<16:
		return append(out, maskBit|126, byte(length>>8), byte(length))
	}
	return binary.BigEndian.AppendUint64(append(out, maskBit|127), uint64(length))
}

// mask masks, or unmasks, bytes that begin at an offset of the payload.
func mask(payload []byte, offset int) {
	for i := range payload {
		payload[i] ^= maskingKey[(i+offset)&3]
	}
}

// unmask removes the mask of any key, eight bytes at a time.
func unmask(payload, key []byte) {
	word := uint64(binary.LittleEndian.Uint32(key))
	word |= word << 32
	i := 0
	for ; i+8 <= len(payload); i += 8 {
		binary.LittleEndian.PutUint64(payload[i:], binary.LittleEndian.Uint64(payload[i:])^word)
	}
	for ; i < len(payload); i++ {
		payload[i] ^= key[i&3]
	}
}

// A frame is part of the bytes from which it was read; it is unmasked.
type frame struct {
	op      byte
	payload []byte
	// size of the whole frame, bytes; 0 if it is incomplete.
	size int
}

// readFrame reads the first frame of some bytes, masked or not. Fragments count as separate frames.
func readFrame(bytes []byte) (frame, error) {
	length, head, err := frameLength(bytes)
	if err != nil || head == 0 {
		return frame{}, err
	}
	if bytes[1]&0x80 != 0 {
		head += 4
	}
	if len(bytes) < head+length {
		return frame{}, nil
	}
	payload := bytes[head : head+length]
	if bytes[1]&0x80 != 0 {
		unmask(payload, bytes[head-4:head])
	}
	return frame{bytes[0] & 15, payload, head + length}, nil
}

// frameLength reads the length of a payload and the size of the head before it; head 0 means that bytes are missing.
func frameLength(bytes []byte) (length, head int, err error) {
	if len(bytes) < 2 {
		return 0, 0, nil
	}
	short := bytes[1] & 0x7f
	switch {
	case short < 126:
		return int(short), 2, nil
	case short == 126 && len(bytes) >= 4:
		return int(binary.BigEndian.Uint16(bytes[2:])), 4, nil
	case short == 127 && len(bytes) >= 10:
		long := binary.BigEndian.Uint64(bytes[2:])
		if long > maxFrame {
			return 0, 0, errFrameTooLarge
		}
		return int(long), 10, nil
	}
	return 0, 0, nil
}

// endOfHead is the end of the head of an HTTP message; -1 if it is incomplete.
func endOfHead(message []byte) int {
	if i := bytes.Index(message, []byte("\r\n\r\n")); i >= 0 {
		return i + 4
	}
	return -1
}
