"""The linguistic probes of INSteD (Shen et al. 2021, section 7.1), as edits of one sentence."""
