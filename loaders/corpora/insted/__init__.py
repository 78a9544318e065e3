"""INSteD: documents with a sentence from elsewhere, and the record of how they were made."""
