//go:build unix

package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/ledger/ledgertest"
)

func init() {
	children["read-only"] = childReadsOnly
}

// childReadsOnly opens a ledger in a folder that it cannot write, and one that is not there yet.
func childReadsOnly(args []string) error {
	dir := args[0]
	for _, name := range []string{"ledger.db", "new.db"} {
		l, err := ledger.Open(filepath.Join(dir, name))
		if err == nil {
			_ = l.Close()
		}
		if !errors.Is(err, ledger.ErrReadOnly) || !strings.Contains(err.Error(), "name another place") {
			return fmt.Errorf("%s: %v", name, err)
		}
	}
	l, err := ledger.OpenReadOnly(filepath.Join(dir, "ledger.db"))
	if err != nil {
		return fmt.Errorf("to look at: %w", err)
	}
	defer l.Close()
	found, _, err := l.Find(context.Background(), args[1])
	if err != nil || found == nil {
		return fmt.Errorf("call: %v, %w", found, err)
	}
	return nil
}

func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	path := written(t, 5)
	// The folders of t.TempDir are closed to others, so another user needs one of its own.
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755); _ = os.RemoveAll(dir) })
	for from, to := range map[string]string{path: "ledger.db", os.Args[0]: "test"} {
		if err := copyFile(from, filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	cmd := child(t, "read-only", dir, ledgertest.Call(3).Key.String())
	cmd.Path, cmd.Dir = filepath.Join(dir, "test"), dir
	if os.Geteuid() == 0 { // who may write everywhere
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o555)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
