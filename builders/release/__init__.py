"""The way from rows to a release: writing, quality, manifest, publishing."""
