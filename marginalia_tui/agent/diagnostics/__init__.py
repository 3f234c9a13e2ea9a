"""What a run did, counted from the rows of its transcript."""
