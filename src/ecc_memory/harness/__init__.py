"""What adapters say, how they are loaded, and what several harnesses have in common."""
