"""The one room that finds texts and reads them, whoever asks: a source, a command, a count, or Python."""
