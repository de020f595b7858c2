"""From what the abstract machine leaves behind to the program that the engines explore."""
