def grid(grid_size):
    rows, columns = grid_size
    return [divmod(i, columns) for i in range(rows * columns)]
