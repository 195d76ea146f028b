package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/textproto"
	"strconv"
	"strings"
	"sync"
	"time"
)

// quick is a server that knows one answer and reads no more of a request than where it ends: what it takes of the
// cores that it shares with who asks is little more than the system's calls. It speaks HTTP/1.1 with lengths, as
// clients of servers of models do, and nothing else.
type quick struct {
	listener net.Listener
	wait     time.Duration
	conns    sync.WaitGroup
	stopped  chan struct{}
	stop     func()
}

// answer is what the server says to everything: seven tokens with their log-probabilities.
const answer = `{"id":"cmpl-1","object":"text_completion","model":"one","choices":[{"index":0,"text":" the capital of France is Paris .","finish_reason":"stop",` +
	`"logprobs":{"tokens":[" the"," capital"," of"," France"," is"," Paris"," ."],"token_logprobs":[-0.91234567,-0.11234567,-0.01234567,-0.2134567,-0.00123456,-0.31234567,-0.71234567]}}],` +
	`"usage":{"prompt_tokens":60,"completion_tokens":7,"total_tokens":67}}`

// serveAt serves at address until it is closed. An answer takes wait.
func serveAt(address string, wait time.Duration) (*quick, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	s := &quick{listener: listener, wait: wait, stopped: make(chan struct{})}
	s.stop = sync.OnceFunc(func() { close(s.stopped); _ = listener.Close() })
	s.conns.Go(s.accept)
	return s, nil
}

func (s *quick) url() string { return "http://" + s.listener.Addr().String() }

// close ends all connections and waits for them.
func (s *quick) close() {
	s.stop()
	s.conns.Wait()
}

func (s *quick) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.conns.Go(func() {
			ended, end := context.WithCancel(context.Background())
			defer end()
			s.conns.Go(func() {
				select {
				case <-s.stopped:
				case <-ended.Done():
				}
				_ = conn.Close()
			})
			for in := bufio.NewReader(conn); s.exchange(in, conn) == nil; {
			}
		})
	}
}

// exchange answers one request.
func (s *quick) exchange(in *bufio.Reader, out io.Writer) error {
	verb, err := in.Peek(len("GET "))
	if err != nil {
		return err
	}
	body := answer
	if string(verb) == "GET " {
		body = `{"data":[{"id":"one"}]}`
	}
	length, err := lengthOf(in)
	if err != nil {
		return err
	}
	if _, err := in.Discard(length); err != nil {
		return err
	}
	if s.wait > 0 && length > 0 {
		select {
		case <-time.After(s.wait):
		case <-s.stopped:
			return net.ErrClosed
		}
	}
	_, err = io.WriteString(out, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"+body)
	return err
}

// lengthOf reads the head of a request and gives the length of its body.
func lengthOf(in *bufio.Reader) (int, error) {
	length := 0
	for lines := textproto.NewReader(in); ; {
		line, err := lines.ReadLineBytes()
		if err != nil || len(line) == 0 {
			return length, err
		}
		const name = "content-length:"
		if len(line) > len(name) && strings.EqualFold(string(line[:len(name)]), name) {
			if length, err = strconv.Atoi(strings.TrimSpace(string(line[len(name):]))); err != nil || length < 0 {
				return 0, errors.New("a length that is none")
			}
		}
	}
}
