"""The commands that ship with the studio, a module for each suite."""
