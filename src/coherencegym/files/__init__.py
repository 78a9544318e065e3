"""Files: read by a schema, written whole or not at all."""
