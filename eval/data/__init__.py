"""Datasets: from the Hub or a folder, verified, and suites in SyntaxGym's JSON."""
