"""Books in and out: from files to a manuscript and back, and from a manuscript into the library and back."""
