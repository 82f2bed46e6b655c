import type { KeyRange } from "@seneschal/kernel/store";

const chunkSize = 512;

/**
 * A sorted map from byte strings to ids: sorted chunks of at most 512 entries, so that an insert moves little. Starts to
 * feel its size beyond some ten million entries, far behind what fits in memory otherwise.
 */
export class SortedKeys {
  #chunks: { keys: string[]; ids: string[] }[] = [];

  set(key: string, id: string): void {
    const chunk = this.#chunks[this.#chunkFor(key)];
    if (chunk === undefined) {
      this.#chunks.push({ keys: [key], ids: [id] });
      return;
    }
    const at = lowerBound(chunk.keys, key);
    if (chunk.keys[at] === key) {
      chunk.ids[at] = id;
      return;
    }
    chunk.keys.splice(at, 0, key);
    chunk.ids.splice(at, 0, id);
    if (chunk.keys.length > chunkSize) this.#split(chunk);
  }

  delete(key: string): void {
    const index = this.#chunkFor(key);
    const chunk = this.#chunks[index];
    if (chunk === undefined) return;
    const at = lowerBound(chunk.keys, key);
    if (chunk.keys[at] !== key) return;
    chunk.keys.splice(at, 1);
    chunk.ids.splice(at, 1);
    if (chunk.keys.length === 0) this.#chunks.splice(index, 1);
  }

  count(range: KeyRange): number {
    let count = 0;
    for (let index = this.#chunkFor(range.gte); index < this.#chunks.length; index += 1) {
      const keys = this.#chunks[index]?.keys ?? [];
      const end = range.lt === undefined ? keys.length : lowerBound(keys, range.lt);
      count += Math.max(0, end - lowerBound(keys, range.gte));
      if (end < keys.length) break;
    }
    return count;
  }

  *entries(range: KeyRange, reverse: boolean): Generator<{ readonly key: string; readonly id: string }> {
    if (reverse) yield* this.#backwards(range);
    else yield* this.#forwards(range);
  }

  *#forwards({ gte, lt }: KeyRange): Generator<{ readonly key: string; readonly id: string }> {
    for (let index = this.#chunkFor(gte); index < this.#chunks.length; index += 1) {
      const { keys, ids } = this.#chunks[index] as { keys: string[]; ids: string[] };
      for (let at = lowerBound(keys, gte); at < keys.length; at += 1) {
        const key = keys[at] as string;
        if (lt !== undefined && key >= lt) return;
        yield { key, id: ids[at] as string };
      }
    }
  }

  *#backwards({ gte, lt }: KeyRange): Generator<{ readonly key: string; readonly id: string }> {
    for (let index = lt === undefined ? this.#chunks.length - 1 : this.#chunkFor(lt); index >= 0; index -= 1) {
      const { keys, ids } = this.#chunks[index] ?? { keys: [], ids: [] };
      for (let at = (lt === undefined ? keys.length : lowerBound(keys, lt)) - 1; at >= 0; at -= 1) {
        const key = keys[at] as string;
        if (key < gte) return;
        yield { key, id: ids[at] as string };
      }
    }
  }

  /** The last chunk that starts at or before `key`, else the first. */
  #chunkFor(key: string): number {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#chunks[middle]?.keys[0] ?? "") <= key) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  /** The last chunk keeps ascending inserts dense: only the newest entry moves on. */
  #split(chunk: { keys: string[]; ids: string[] }): void {
    const index = this.#chunks.indexOf(chunk);
    const at = index === this.#chunks.length - 1 ? chunk.keys.length - 1 : chunk.keys.length >> 1;
    this.#chunks.splice(index + 1, 0, { keys: chunk.keys.splice(at), ids: chunk.ids.splice(at) });
  }
}

/** The position of the first key that is not below `key`. */
function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
