"""What the commands share: options, tables of numbers, and texts of folders."""
