"""Learning criteria of sentence encoders, after Chen, Chu and Gimpel 2019, section 4."""
