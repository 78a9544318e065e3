"""A dataset for other tools: SyntaxGym's JSON, and pairs of texts for lm-evaluation-harness."""
