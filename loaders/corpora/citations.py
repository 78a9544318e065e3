"""Citations that several corpora share (BibTeX)."""

#: The procedure behind documents with an intruder, and the dataset INSteD.
SHEN_2021 = """\
@article{shen-etal-2021-evaluating,
    title = "Evaluating Document Coherence Modeling",
    author = "Shen, Aili and Mistica, Meladel and Salehi, Bahar and Li, Hang and
      Baldwin, Timothy and Qi, Jianzhong",
    journal = "Transactions of the Association for Computational Linguistics",
    volume = "9",
    year = "2021",
    address = "Cambridge, MA",
    publisher = "MIT Press",
    url = "https://aclanthology.org/2021.tacl-1.38",
    doi = "10.1162/tacl_a_00388",
    pages = "621--640",
}"""
