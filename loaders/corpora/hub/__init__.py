"""Any dataset of texts on the Hugging Face Hub, with or without spans."""
