"""Rules of each language for mentions: said again, and without their antecedents."""
