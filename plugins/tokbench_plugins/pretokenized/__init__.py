"""Ids or pieces that another program computed, looked up text by text: any tokenizer in any language can be compared.

``rows`` reads them out of JSON Lines or Parquet, ``pieces`` says which bytes a piece stands for, ``tokenizer``
looks texts up, and ``backend`` has the options of a user and checks or assigns ids.
"""
