"""The embedded proofreader: rules instead of a language model, behind the same events and the same tools."""
