"""The study of vocabulary sizes: lines over sizes, what each size costs, and which size to take."""
