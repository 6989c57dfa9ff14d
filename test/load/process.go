package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// ticksPerSecond is the unit of /proc/PID/stat and /proc/stat (USER_HZ), the same on every Linux of today.
const ticksPerSecond = 100

// A processes value names the server's processes, as a flag: numbers separated by commas.
type processes []int

func (p *processes) String() string { return fmt.Sprint([]int(*p)) }

func (p *processes) Set(text string) error {
	for _, word := range strings.Split(text, ",") {
		pid, err := strconv.Atoi(word)
		if err != nil || pid < 1 {
			return fmt.Errorf("%q is not the number of a process", word)
		}
		*p = append(*p, pid)
	}
	return nil
}

// cpu is the CPU time of all threads of the processes, user and system, seconds; it is counted in steps of 10 ms.
func (p processes) cpu() float64 {
	ticks := 0
	for _, pid := range p {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue
		}
		// The name in brackets may hold anything; utime and stime are the 12th and 13th field behind it.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		ticks += number(fields, 11) + number(fields, 12)
	}
	return float64(ticks) / ticksPerSecond
}

// resident is the memory of the processes, bytes: of its own and shared (RSS).
func (p processes) resident() int {
	kilobytes := 0
	for _, pid := range p {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		for _, line := range strings.Split(string(status), "\n") {
			if strings.HasPrefix(line, "VmRSS:") {
				kilobytes += number(strings.Fields(line), 1)
			}
		}
	}
	return kilobytes * 1024
}

// coreBusy is the busy time of a core, for all processes, seconds; 0 for core -1.
func coreBusy(core int) float64 {
	stat, _ := os.ReadFile("/proc/stat")
	for _, line := range strings.Split(string(stat), "\n") {
		fields := strings.Fields(line)
		if len(fields) < 9 || fields[0] != fmt.Sprint("cpu", core) {
			continue
		}
		ticks := 0
		for i := 1; i < 9; i++ {
			if i != 4 && i != 5 { // idle, iowait
				ticks += number(fields, i)
			}
		}
		return float64(ticks) / ticksPerSecond
	}
	return 0
}

// ownCPU is the CPU time of this process, seconds.
func ownCPU() float64 {
	var usage syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

// number is a field as a whole number; 0 if it is not one.
func number(fields []string, i int) int {
	if i >= len(fields) {
		return 0
	}
	n, _ := strconv.Atoi(fields[i])
	return n
}
