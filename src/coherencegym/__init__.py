"""Turn discourse corpora into test suites of coherence, and score language models on them.

``coherencegym.loaders`` read corpora, ``coherencegym.manipulations`` take their coherence away,
``coherencegym.builders`` make datasets with ``coherencegym.cards``, and ``coherencegym.eval``
scores models on them.
"""
