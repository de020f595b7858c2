"""What does a test not notice? The program with each memory order, fence and locked operation made weaker, in turn."""
