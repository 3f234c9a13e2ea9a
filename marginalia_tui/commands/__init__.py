"""Commands: the one way to do a thing. A plain function under a decorator, one registry, one dispatcher."""
