"""Speed, memory and import time beside other people's Vision Transformers."""
