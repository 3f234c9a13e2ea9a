"""Values and rules: no I/O, no SQL, no other package of ours."""
