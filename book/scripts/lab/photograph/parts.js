// Gets the weights of the large model, part by part: from the browser's cache if it has them, else from the site, and
// from scripts if the page was opened from a folder, where a browser reads no other files.

import { loaderOf } from "../../loading/on_demand.js";
import { bytesOf } from "../../shared/numbers.js";
import { takeContent } from "../parts/weights.js";

/** @import { Manifest, Progress, WeightsPart } from "../parts/types.d.ts" */

const CACHE = "vit-photograph";

/**
 * Gets all parts and hands each to take({name, bytes}) as it comes.
 * onProgress(bytes, total): called after each piece; signal: an AbortSignal.
 * @param {{
 *   manifest: Manifest, folder: string, take(part: WeightsPart): void, onProgress?: Progress, signal?: AbortSignal,
 * }} hands
 */
export async function photographParts({ manifest, folder, take, onProgress = () => {}, signal }) {
  const total = manifest.parts.reduce((sum, { bytes }) => sum + bytes, 0);
  const cache = await openCache(manifest);
  const loadScript = new URL(folder).protocol === "file:" ? loaderOf(folder) : null;
  let done = 0;
  for (const { name, bytes: length } of manifest.parts) {
    signal?.throwIfAborted();
    const key = `${folder}${name}.${manifest.digest}`;
    const kept = await cache?.match(key);
    let bytes = kept && new Uint8Array(await kept.arrayBuffer());
    if (bytes?.length !== length) {
      const text = loadScript
        ? await fromScript(loadScript, name)
        : await fetchText(`${folder}${name}.js?${manifest.digest}`, signal, (share) =>
            onProgress(done + share * length, total),
          );
      bytes = bytesOf(text.split('"').at(-2) ?? text); // what a script has in quotation marks
      if (bytes.length !== length) throw new Error("A part of the model came incomplete. Please try again.");
      await cache?.put(key, new Response(bytes)).catch(() => {}); // a full disk is no reason to stop
    }
    take({ name, bytes });
    done += length;
    onProgress(done, total);
  }
}

/**
 * Returns the browser's cache for this model, without what an older model left, or null where there is none.
 * @type {(manifest: Manifest) => Promise<Cache | null>}
 */
async function openCache({ digest }) {
  try {
    const cache = await globalThis.caches.open(CACHE);
    for (const request of await cache.keys()) if (!request.url.endsWith(digest)) await cache.delete(request);
    return cache;
  } catch {
    return null; // from a folder, in a private window, or without https
  }
}

/**
 * Fetches a script's text; share goes from 0 to 1.
 * @type {(url: string, signal: AbortSignal | undefined, onShare: (share: number) => void) => Promise<string>}
 */
async function fetchText(url, signal, onShare) {
  let response;
  try {
    response = await fetch(url, { signal });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Error("The model could not be fetched. Are you connected to the network?", { cause: error });
  }
  if (!response.ok) throw new Error(`The model could not be fetched: the server answered ${response.status}.`);
  if (!response.body) return response.text();
  const reader = response.body.getReader();
  const length =
    Number(response.headers.get("Content-Length")) * (response.headers.get("Content-Encoding") ? 4 / 3 : 1);
  const decoder = new TextDecoder();
  let text = "";
  let read = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += decoder.decode(value, { stream: true });
    read += value.length;
    onShare(length ? Math.min(1, read / length) : 0);
  }
}

/** @type {(loadScript: (name: string) => Promise<void>, name: string) => Promise<string>} */
async function fromScript(loadScript, name) {
  await loadScript(name).catch(() => {
    throw new Error("The model is not in this folder.");
  });
  return String(takeContent(`photograph-${name}`));
}
