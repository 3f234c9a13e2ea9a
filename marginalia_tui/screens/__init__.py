"""The screens of the studio, each with its own sheet of style beside it."""
