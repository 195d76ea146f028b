package weights

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// releaseDelivery takes every library out of an archive of a release page. The chain of checksums
// goes from the catalogue to the manifest, from the manifest to the archive.
type releaseDelivery struct {
	cache   *Cache
	release Release
}

func (d releaseDelivery) name() string {
	if u, err := url.Parse(d.release.Site); err == nil {
		return u.Host
	}
	return d.release.Site
}

// manifest lists the assets of a release by the repository that published them, as those of
// llama-cpp-builder do.
type manifest struct {
	Sources map[string]struct {
		Tag    string `json:"tag"`
		Assets map[string]struct {
			SHA256 string `json:"sha256"`
		} `json:"assets"`
	} `json:"sources"`
}

// maxManifest bounds a manifest, in bytes.
const maxManifest = 8 << 20

func (d releaseDelivery) deliver(ctx context.Context, dir string, report func(int64)) (marks, error) {
	asset, from, sum, err := d.find(ctx)
	if err != nil {
		return nil, err
	}
	scratch, err := d.cache.scratch()
	if err != nil {
		return nil, localError{err}
	}
	defer os.RemoveAll(scratch)
	archive := filepath.Join(scratch, asset)
	if err := d.download(ctx, from, archive, sum, report); err != nil {
		return nil, err
	}
	return unpackLibraries(ctx, archive, dir)
}

// find reads the manifest and returns the archive's name, URL and checksum.
func (d releaseDelivery) find(ctx context.Context) (asset, from, sum string, err error) {
	text, err := d.read(ctx, d.release.Manifest, maxManifest)
	if err != nil {
		return "", "", "", fmt.Errorf("manifest: %w", err)
	}
	if got, err := hashReader(ctx, bytes.NewReader(text)); err != nil || got != d.release.SHA256 {
		return "", "", "", fmt.Errorf("manifest %w: sha256 %s, expected %s; not accepted", errOtherBytes, got, d.release.SHA256)
	}
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return "", "", "", fmt.Errorf("manifest: %w", err)
	}
	group := m.Sources[d.release.Repository]
	asset = strings.ReplaceAll(d.release.Asset, "{tag}", group.Tag)
	sum = group.Assets[asset].SHA256
	if err := (File{asset, 1, sum}).validate(); err != nil {
		return "", "", "", fmt.Errorf("manifest has no checksum of %s in %s", asset, d.release.Repository)
	}
	from = d.release.Site + "/" + path.Join(d.release.Repository, "releases/download", group.Tag, asset)
	return asset, from, sum, nil
}

func (d releaseDelivery) read(ctx context.Context, from string, limit int64) ([]byte, error) {
	resp, err := get(ctx, d.cache.http, from, 0)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("answered %s", resp.Status)
	}
	return io.ReadAll(io.LimitReader(resp.Body, limit))
}

// download fetches a checked archive. It is small: an interrupted one begins again.
func (d releaseDelivery) download(ctx context.Context, from, to, sum string, report func(int64)) error {
	resp, err := get(ctx, d.cache.http, from, 0)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: answered %s", path.Base(from), resp.Status)
	}
	body := io.TeeReader(resp.Body, &meter{report: report})
	k, err := unpackFile(ctx, body, to, 4*d.release.Bytes)
	if err != nil {
		return err
	}
	if k.SHA256 != sum {
		return fmt.Errorf("%s %w: sha256 %s, expected %s; not accepted", path.Base(from), errOtherBytes, k.SHA256, sum)
	}
	return nil
}

// meter reports how many bytes have passed.
type meter struct {
	done   int64
	report func(int64)
}

func (m *meter) Write(b []byte) (int, error) {
	m.done += int64(len(b))
	m.report(m.done)
	return len(b), nil
}

// libraryFile is the name of a shared library, versioned or not.
var libraryFile = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.+-]*\.(so(\.[0-9]+)*|dylib|dll)$`)

// unpackLibraries writes every library of the archive into dir under its last name, and makes again
// those links that lead from one library's name to another's.
func unpackLibraries(ctx context.Context, archive, dir string) (marks, error) {
	m, links := marks{}, map[string]string{}
	err := eachMember(archive, func(name, target string, r io.Reader) error {
		base := path.Base(name)
		if !libraryFile.MatchString(base) {
			return ctx.Err()
		}
		if target != "" {
			links[base] = target
			return nil
		}
		if _, twice := m[base]; twice {
			return fmt.Errorf("has %s twice", base)
		}
		k, err := unpackFile(ctx, r, filepath.Join(dir, base), maxUnpacked)
		m[base] = k
		return err
	})
	if err != nil {
		return nil, err
	}
	for link := range links {
		_, taken := m[link]
		target, ok := follow(link, links, m)
		if taken || !ok {
			continue
		}
		if err := makeLink(dir, link, target); err != nil {
			return nil, localError{err}
		}
	}
	if name, ok := lacking(dir); ok {
		return nil, fmt.Errorf("%s has no %s", filepath.Base(archive), name)
	}
	return m, nil
}

// follow goes along links, themselves names without a folder, to a file.
func follow(name string, links map[string]string, files marks) (string, bool) {
	for range len(links) + 1 {
		if _, ok := files[name]; ok {
			return name, true
		}
		target, ok := links[name]
		if !ok {
			return "", false
		}
		name = target
	}
	return "", false
}
