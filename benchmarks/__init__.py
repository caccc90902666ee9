"""Compare speed, memory and import time with other libraries' Vision Transformers."""
