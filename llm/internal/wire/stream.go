package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// joinStream makes one answer of a stream of events, for gateways that stream whatever they are asked. The
// chunks of OpenAI's routes are joined: texts and lists of tokens one after another, the last of all else.
func joinStream(body []byte) ([]byte, error) {
	var whole map[string]any
	done := false
	for _, data := range events(body) {
		if string(bytes.TrimSpace(data)) == "[DONE]" {
			done = true
			break
		}
		var chunk map[string]any
		if err := json.Unmarshal(finite(data), &chunk); err != nil {
			return nil, fmt.Errorf("an event of the stream is no JSON: %w", err)
		}
		whole = joinChunk(whole, chunk)
	}
	switch {
	case whole == nil:
		return nil, errors.New("a stream without any event")
	case !done:
		return nil, errors.New("a stream that ends early")
	}
	return json.Marshal(whole)
}

// events are the data of a stream's events (HTML Living Standard, section 9.2.6): lines end in CR, LF or
// both, lines of one event are joined, comments and events without data are passed over.
func events(body []byte) [][]byte {
	body = bytes.TrimPrefix(body, []byte("\uFEFF"))
	body = bytes.ReplaceAll(bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	var out [][]byte
	var data [][]byte
	for line := range bytes.SplitSeq(append(body, '\n', '\n'), []byte("\n")) {
		if len(line) == 0 {
			if len(data) > 0 {
				out = append(out, bytes.Join(data, []byte("\n")))
			}
			data = nil
			continue
		}
		if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(data, bytes.TrimPrefix(value, []byte(" ")))
		}
	}
	return out
}

// joinChunk adds a chunk to what came before it. A "delta" is a part of the "message".
func joinChunk(whole, chunk map[string]any) map[string]any {
	if whole == nil {
		whole = map[string]any{}
	}
	for key, value := range chunk {
		if key == "delta" {
			key = "message"
		}
		whole[key] = joinValue(key, whole[key], value)
	}
	return whole
}

// grown are the texts that come in parts.
var grown = map[string]bool{"content": true, "reasoning_content": true, "reasoning": true, "text": true, "refusal": true, "thinking": true}

func joinValue(key string, old, value any) any {
	switch v := value.(type) {
	case nil:
		return old
	case string:
		if s, ok := old.(string); ok && grown[key] {
			return s + v
		}
	case map[string]any:
		m, _ := old.(map[string]any)
		return joinChunk(m, v)
	case []any:
		list, _ := old.([]any)
		if key != "choices" {
			return append(list, v...)
		}
		for i, c := range v {
			part, ok := c.(map[string]any)
			if !ok {
				return append(list, v...)
			}
			if i < len(list) {
				before, _ := list[i].(map[string]any)
				list[i] = joinChunk(before, part)
			} else {
				list = append(list, joinChunk(nil, part))
			}
		}
		return list
	}
	return value
}
