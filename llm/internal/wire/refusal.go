package wire

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// refusal reads what a server says with a status other than 200.
func refusal(status int, h http.Header, body []byte, now time.Time) *Error {
	text, code := errorText(body)
	failed := &Error{Kind: kindOf(status), Status: status, What: text, Cause: causeOf(text)}
	if failed.Cause != nil && failed.Kind != Busy {
		failed.Final = true
	}
	switch {
	case strings.Contains(code, "insufficient_quota") || strings.Contains(text, "insufficient_quota"):
		failed.Kind = Exhausted
	case failed.Kind.Repeatable():
		failed.After, _ = retryAfter(h, now)
	}
	if status >= 300 && status < 400 {
		failed.What = "the server sends elsewhere; give the address that it sends to"
	}
	return failed
}

func kindOf(status int) Kind {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return Unauthorised
	case http.StatusPaymentRequired:
		return Exhausted
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return Busy
	}
	if status >= 500 {
		return Failing
	}
	return Refused
}

// disguised finds an error in the body of an answer with status 200, as some proxies send: nil if it is none.
func disguised(h http.Header, body []byte) *Error {
	if !bytes.Contains(body, []byte(`"error"`)) {
		return nil
	}
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &outer) != nil || len(outer.Error) == 0 || string(outer.Error) == "null" {
		return nil
	}
	text, code := errorText(body)
	status, err := strconv.Atoi(code)
	if err != nil || status < 400 || status > 599 {
		status = http.StatusBadGateway
	}
	failed := refusal(status, h, body, time.Now())
	failed.What = "an error with status 200: " + text
	return failed
}

// errorText takes the message out of the forms that servers have for it, and the code as text. A body of
// no known form is the message.
func errorText(body []byte) (text, code string) {
	type inner struct {
		Message json.RawMessage `json:"message"`
		Type    json.RawMessage `json:"type"`
		Code    json.RawMessage `json:"code"`
	}
	var outer struct {
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
		Code    json.RawMessage `json:"code"`
		Type    json.RawMessage `json:"error_type"`
	}
	if json.Unmarshal(body, &outer) != nil {
		return Line(string(body[:min(len(body), 2*maxWhat)])), ""
	}
	var in inner
	switch {
	case len(outer.Error) > 0 && json.Unmarshal(outer.Error, &in) == nil && len(in.Message) > 0:
		return strings.TrimSpace(plain(in.Message) + " " + bracketed(plain(in.Type))), plain(in.Code) + plain(in.Type)
	case len(outer.Error) > 0:
		text = plain(outer.Error)
	case len(outer.Message) > 0:
		text = plain(outer.Message)
	case len(outer.Detail) > 0:
		text = plain(outer.Detail)
	default:
		text = string(body[:min(len(body), 2*maxWhat)])
	}
	return strings.TrimSpace(Line(text) + " " + bracketed(plain(outer.Type))), plain(outer.Code)
}

// plain is a JSON text without its quotes, or any other JSON value as it stands; null is nothing.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return strings.TrimPrefix(string(raw), "null")
}

func bracketed(s string) string {
	if s == "" {
		return ""
	}
	return "[" + s + "]"
}
