import js from "@eslint/js";

export default [
  { ignores: ["**/simd.js"] }, // written by book/lab_kernels.py and book/photograph_kernels.py
  js.configs.recommended,
  {
    rules: {
      "no-undef": "off", // tsc knows the browser's names
      "max-len": ["error", { code: 120 }],
      "no-var": "error",
      "prefer-const": "error",
      eqeqeq: "error",
    },
  },
];
