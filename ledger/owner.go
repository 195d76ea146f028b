package ledger

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
)

// newOwner names this ledger among all that claim calls: host, process, and digits of its own.
func newOwner() string {
	return fmt.Sprintf("%s %d %s", hostname(), os.Getpid(), rand.Text())
}

func hostname() string {
	host, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return strings.ReplaceAll(host, " ", "-")
}

// ownerGone reports whether owner is a process of this machine that has ended. Where that cannot be
// told it is taken to be alive, and its claims run out by themselves. Should a process be taken for
// gone that is not (two machines of one name), a call may be made twice; one reply is kept.
func ownerGone(owner string) bool {
	var host, digits string
	var pid int
	if n, err := fmt.Sscanf(owner, "%s %d %s", &host, &pid, &digits); n != 3 || err != nil || host != hostname() || pid <= 0 {
		return false
	}
	if pid == os.Getpid() {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return true // Windows: there is no such process
	}
	defer func() { _ = p.Release() }()
	if runtime.GOOS == "windows" {
		return false
	}
	err = p.Signal(syscall.Signal(0))
	return errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH)
}
