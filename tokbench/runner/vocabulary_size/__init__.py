"""What a study of vocabulary sizes makes of an evaluation: lines over sizes, their costs, and what to take."""
