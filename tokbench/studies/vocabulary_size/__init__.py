"""The study of vocabulary sizes: what each size gives and costs, and which one to take."""
