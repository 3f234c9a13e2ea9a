"""Use cases on books: what the screens, the commands and the headless verbs have in common."""
