package weights

import (
	"os"
	"path/filepath"
)

// State says how much of something the cache has.
type State string

const (
	// Absent: nothing of it is there.
	Absent State = "absent"
	// Incomplete: an interrupted fetch has left something to go on from.
	Incomplete State = "incomplete"
	// Present: it is there with the right size. Its checksum is looked at when it is used.
	Present State = "present"
)

// ModelStatus is a model of the catalogue and what the cache has of it.
type ModelStatus struct {
	Model
	Default bool   `json:"default"`
	State   State  `json:"state"`
	Have    int64  `json:"have_bytes"`
	Path    string `json:"path"`
}

// Models lists the catalogue's models with what is there of each. Nothing is hashed or fetched.
func (c *Cache) Models() []ModelStatus {
	var list []ModelStatus
	for _, m := range c.catalogue.Models {
		f := c.model(m)
		s := ModelStatus{Model: m, Default: m.Name == c.catalogue.Default, State: Absent, Path: f.path()}
		if info, err := os.Stat(f.path()); err == nil && info.Size() == m.Bytes {
			s.State, s.Have = Present, m.Bytes
		} else if have := f.item().Have; have > 0 {
			s.State, s.Have = Incomplete, have
		}
		list = append(list, s)
	}
	return list
}

// EngineStatus is the engine of this platform and what the cache has of it.
type EngineStatus struct {
	Engine
	Bytes int64  `json:"bytes"`
	State State  `json:"state"`
	Path  string `json:"path"`
}

// Engine tells about the libraries for this platform: the set that is there, else the preferred one.
// Nothing is hashed or fetched.
func (c *Cache) Engine() (EngineStatus, error) {
	engines, err := c.catalogue.EnginesFor("")
	if err != nil {
		return EngineStatus{}, err
	}
	for _, e := range engines {
		if f := c.engine(e); f.seemsPresent() {
			return EngineStatus{e, e.bytes(), Present, f.path()}, nil
		}
	}
	e := engines[0]
	return EngineStatus{e, e.bytes(), Absent, c.engine(e).path()}, nil
}

func (f *engineFolder) seemsPresent() bool {
	files := f.expected(readMarks(f.marks()))
	for _, file := range files {
		if info, err := os.Stat(filepath.Join(f.path(), file.Name)); err != nil || info.Size() != file.Bytes {
			return false
		}
	}
	return len(files) > 0
}
