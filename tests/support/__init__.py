"""What several tests use: texts, corpora, datasets, results, models, servers, readers."""
