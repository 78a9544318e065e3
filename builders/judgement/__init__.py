"""Human judgement of items: drawing pairs, the sheet, reading answers back, agreement."""
