"""The built-in assistant: an ordinary provider without a model and without a network.

It acts only through tool calls, finds passages and quotes them, and says that this is all it does.
"""
