"""What the notebooks show with: pictures, curves, tables, and numbers of long runs."""

from vit_steps.notebook.curves import live_history, show_benchmarks, show_history
from vit_steps.notebook.pictures import (
    show_attention_grid,
    show_attention_over_image,
    show_filters,
    show_heatmaps,
    show_image,
    show_patch_grid,
    show_patches_apart,
    show_position_similarity,
    show_token_trace,
)
from vit_steps.notebook.results import read_results, recorded
from vit_steps.notebook.style import COLOURS, use_book_style
from vit_steps.notebook.tables import Table

__all__ = [
    "COLOURS",
    "Table",
    "live_history",
    "read_results",
    "recorded",
    "show_attention_grid",
    "show_attention_over_image",
    "show_benchmarks",
    "show_filters",
    "show_heatmaps",
    "show_history",
    "show_image",
    "show_patch_grid",
    "show_patches_apart",
    "show_position_similarity",
    "show_token_trace",
    "use_book_style",
]
