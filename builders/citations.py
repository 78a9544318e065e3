"""Citations that several suites share (BibTeX)."""

BEYER_2021 = """@inproceedings{beyer-etal-2021-incoherence,
    title = "Is Incoherence Surprising? Targeted Evaluation of Coherence Prediction from Language Models",
    author = "Beyer, Anne and Lo{\\'a}iciga, Sharid and Schlangen, David",
    booktitle = "Proceedings of the 2021 Conference of the North American Chapter of the Association for Computational Linguistics: Human Language Technologies",
    year = "2021",
    pages = "4164--4173",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/2021.naacl-main.328",
}"""  # noqa: E501
