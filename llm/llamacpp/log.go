package llamacpp

import (
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unsafe"
)

// errorLog keeps the last lines that llama.cpp wrote as errors or warnings and drops the rest.
// Of what it says otherwise the sizes of its buffers are kept.
type errorLog struct {
	mu      sync.Mutex
	lines   []string
	buffers map[string]int64
}

const (
	logKeep     = 4
	logInfo     = 2
	logLevel    = 3   // GGML_LOG_LEVEL_WARN; errors are above
	logContinue = 5   // GGML_LOG_LEVEL_CONT continues the line before
	logLine     = 400 // bytes kept of a line
)

// receive is the log callback of llama.cpp: level, text, user data.
func (l *errorLog) receive(level, text, _ uintptr) uintptr {
	severity := int32(level)
	if severity == logInfo {
		l.keepSize(goString(*(**byte)(unsafe.Pointer(&text))))
	}
	if severity < logLevel || severity == logContinue {
		return 0
	}
	line := strings.TrimSpace(goString(*(**byte)(unsafe.Pointer(&text))))
	if line == "" || strings.Trim(line, ".") == "" {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, strings.ToValidUTF8(line[:min(len(line), logLine)], "\uFFFD"))
	if len(l.lines) > logKeep {
		l.lines = l.lines[len(l.lines)-logKeep:]
	}
	return 0
}

// bufferSize is how llama.cpp tells the size of a buffer: "CPU_Mapped model buffer size = 92.10 MiB".
var bufferSize = regexp.MustCompile(`(model|KV|compute|output) buffer size = +([\d.]+) MiB`)

func (l *errorLog) keepSize(line string) {
	m := bufferSize.FindStringSubmatch(line)
	if m == nil {
		return
	}
	mib, err := strconv.ParseFloat(m[2], 64)
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.buffers == nil {
		l.buffers = map[string]int64{}
	}
	l.buffers[m[1]] += int64(mib * (1 << 20))
}

// sizes are the bytes of the buffers that the library made since forgetSizes, by kind: model, KV, compute
// and output.
func (l *errorLog) sizes() map[string]int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.buffers)
}

func (l *errorLog) forgetSizes() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buffers = nil
}

// clear forgets what was written so far, so that an error is not explained by an older one.
func (l *errorLog) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = nil
}

// explain adds the kept lines to err.
func (l *errorLog) explain(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines) == 0 {
		return err
	}
	return fmt.Errorf("%w; llama.cpp says: %s", err, strings.Join(l.lines, " | "))
}

// goString copies a NUL-terminated text of C.
func goString(p *byte) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}
