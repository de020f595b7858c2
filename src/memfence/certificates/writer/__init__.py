"""From answers to certificates: the engines search once more, so that what they saw can be written down."""
