"""What an agent changed in its working copy: the plan of the merge, the review of it, and the apply."""
