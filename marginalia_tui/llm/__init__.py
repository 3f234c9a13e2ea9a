"""The boundary to language models: requests in, typed events out."""
