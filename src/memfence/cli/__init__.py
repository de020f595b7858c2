"""The command line: read, call, print, choose the exit code. The only folder that prints or exits."""
