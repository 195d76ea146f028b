package weights

import "fmt"

// Reporter is told what happens while a cache is filled. Calls come one after the other.
type Reporter interface {
	// Announce says what is about to be fetched, before anything is.
	Announce(Announcement)
	// Progress comes often; a reporter shows as many as it likes.
	Progress(Progress)
	// Note is one line about something a person may want to know, such as a source that failed.
	Note(string)
	// Done says that an item is whole, checked and in its place.
	Done(Item)
	// End says that the fetch is over, well or not.
	End()
}

// Announcement is what is about to be fetched, and into which folder.
type Announcement struct {
	Home  string
	Items []Item
}

// Item is one thing to fetch.
type Item struct {
	Name, Title string
	// Bytes is its size; Have says how many of them an earlier fetch has left.
	Bytes, Have int64
	Licence     Licence
	// Path is where it will lie.
	Path string
}

// Progress is how far an item has come.
type Progress struct {
	Name string
	// Source says in a word or two where it comes from.
	Source      string
	Done, Total int64 // bytes
}

type silence struct{}

func (silence) Announce(Announcement) {}
func (silence) Progress(Progress)     {}
func (silence) Note(string)           {}
func (silence) Done(Item)             {}
func (silence) End()                  {}

// FormatBytes writes a size in decimal units for people: "491 MB".
func FormatBytes(n int64) string {
	switch {
	case n < 1_000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.0f kB", float64(n)/1e3)
	case n < 9_950_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n < 999_500_000:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.2f GB", float64(n)/1e9)
}
