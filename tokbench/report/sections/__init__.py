"""The parts of a report, each for one subject."""
