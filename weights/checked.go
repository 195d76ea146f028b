package weights

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// mark remembers the checksum of a file that had this size and this time of change, so that a file
// is hashed once and not at each start. A change that keeps both goes unseen until --verify.
type mark struct {
	Bytes    int64     `json:"bytes"`
	Modified time.Time `json:"modified"`
	SHA256   string    `json:"sha256"`
}

// marks is what a checked.json holds, by file name.
type marks map[string]mark

// readMarks reads a file of marks. One that is missing or damaged knows nothing.
func readMarks(file string) marks {
	m := marks{}
	if text, err := os.ReadFile(file); err == nil && json.Unmarshal(text, &m) == nil {
		return m
	}
	return marks{}
}

// write stores the marks. A folder that cannot be written costs hashing again, nothing else.
func (m marks) write(file string) {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*.tmp")
	if err != nil {
		return
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(append(text, '\n'))
	_ = tmp.Chmod(0o644) // a cache may be shared
	if tmp.Close() == nil && err == nil {
		_ = os.Rename(tmp.Name(), file)
	}
}

// holds says whether the file at path is as it was when it was marked with this sum.
func (m marks) holds(name string, info os.FileInfo, sum string) bool {
	k, ok := m[name]
	return ok && k.SHA256 == sum && k.Bytes == info.Size() && k.Modified.Equal(info.ModTime())
}

// sum returns the SHA-256 of the file at path, from the marks if it is known, and marks it.
// The second result says whether the marks have changed.
func (m marks) sum(ctx context.Context, path string, again bool) (string, bool, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", false, err
	}
	name := filepath.Base(path)
	if k, ok := m[name]; ok && !again && m.holds(name, info, k.SHA256) {
		return k.SHA256, false, nil
	}
	sum, err := hashFile(ctx, path)
	if err != nil {
		return "", false, err
	}
	m[name] = mark{info.Size(), info.ModTime(), sum}
	return sum, true, nil
}

// fileSum is the checksum of a file outside the cache, remembered inside it.
func (c *Cache) fileSum(ctx context.Context, path string) (string, error) {
	id := sha256.Sum256([]byte(path))
	store := filepath.Join(c.home, "checked", hex.EncodeToString(id[:8])+".json")
	m := readMarks(store)
	sum, changed, err := m.sum(ctx, path, false)
	if err != nil {
		return "", fmt.Errorf("weights: %w", err)
	}
	if changed && os.MkdirAll(filepath.Dir(store), 0o755) == nil {
		m.write(store)
	}
	return sum, nil
}

func hashFile(ctx context.Context, path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return hashReader(ctx, f)
}

func hashReader(ctx context.Context, r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.CopyBuffer(h, contextReader{ctx, r}, make([]byte, 1<<20)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// contextReader ends a long read when its context does.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
