(globalThis.vitLab ??= {}).sizes = {"image": 32, "digit": 16, "scrap": 6, "step": 2, "gap": 2, "ink": 0.75, "background": 0.4};
