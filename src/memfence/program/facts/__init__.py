"""What is true of a program, by looking at its text alone: loop depth, dead locations, intervals, what a question
sees."""
