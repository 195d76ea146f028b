package weights

import "os"

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
