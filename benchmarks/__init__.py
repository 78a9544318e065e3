"""Speed, memory and exactness beside other tools: ``python -m benchmarks``."""
