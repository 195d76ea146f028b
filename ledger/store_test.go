package ledger_test

import (
	"path/filepath"
	"testing"

	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/ledger/ledgertest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	ledgertest.Run(t, ledgertest.Harness{Open: func(*testing.T) ledger.Store { return ledger.NewMemory() }})
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	paths := make(map[ledger.Store]string)
	open := func(t *testing.T, path string) ledger.Store {
		s, err := ledger.OpenSQLite(path)
		if err != nil {
			t.Fatal(err)
		}
		paths[s] = path
		t.Cleanup(func() {
			if paths[s] != "" {
				closeStore(t, s)
			}
		})
		return s
	}
	ledgertest.Run(t, ledgertest.Harness{
		Open: func(t *testing.T) ledger.Store { return open(t, filepath.Join(t.TempDir(), "a ledger?#%.db")) },
		Reopen: func(t *testing.T, s ledger.Store) ledger.Store {
			closeStore(t, s)
			path := paths[s]
			paths[s] = ""
			return open(t, path)
		},
	})
}

func closeStore(t *testing.T, s ledger.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
