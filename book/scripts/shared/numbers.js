// Numbers as they are packed, computed and written.

/** Returns the bytes that base64 stands for. @type {(base64: string) => Uint8Array<ArrayBuffer>} */
export function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const letters = atob(base64);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

/** @type {(numbers: number[]) => number} */
export const sumOf = (numbers) => numbers.reduce((sum, number) => sum + number, 0);

/** @type {(one: ArrayLike<number>, other: ArrayLike<number>) => number} */
export function dot(one, other) {
  let sum = 0;
  for (let i = 0; i < one.length; i++) sum += one[i] * other[i];
  return sum;
}

/** @type {(scores: number[]) => number[]} */
export function softmax(scores) {
  const most = Math.max(...scores);
  const exps = scores.map((score) => Math.exp(score - most));
  const total = sumOf(exps);
  return exps.map((exp) => exp / total);
}

/** Writes a number as the book prints it, with at most some digits and a minus as long as a plus. */
export function written(/** @type {number} */ number, digits = 1) {
  const text = String(Number(number.toFixed(digits)) || 0);
  return text.replace("-", "−");
}

/** @param {string} words */
export const capital = (words) => words[0].toUpperCase() + words.slice(1);

/** Joins words as in "4, 2 and 0". @param {string[]} texts */
export function listed(texts) {
  return `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}`;
}
