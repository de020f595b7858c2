"""What a certificate is, byte by byte: the container, its header, and how states stand in it. No checking."""
