"""Ids or pieces that another program computed, looked up text by text: any tokenizer in any language can be compared.

``rows`` reads them out of JSON Lines or Parquet, ``pieces`` says which bytes a piece stands for, ``tokenizer``
looks texts up, ``ids`` checks or assigns ids, and ``options`` are what a user sets.
"""
