"""The verbs of the command line: the same services as the screens call, without a screen."""
