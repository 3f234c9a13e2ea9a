"""What stands between the screens and the studio: it asks the services and answers with frozen values.

Nothing here knows Textual; the screens call it on threads of their own.
"""
