/**
 * What a tenant or a user held over time, as an immutable, append-only step function with its integral.
 *
 * Every assignment and every release adds one step at the time of its log entry, and log time never goes back. The hours
 * used in any window are therefore a difference of two integrals: two binary searches, exact, however many allocations
 * there were, and an allocation that straddles the window's edge is clipped by construction. Areas are milliseconds x
 * count as 64-bit integers, so that every replica gets the same number (quota brief, section 7).
 *
 * Appending to the newest version writes in place behind what older versions can see; appending to an older version
 * copies the last chunk first. Old versions stay valid either way.
 */
export class Timeline {
  static readonly empty = new Timeline([], 0, { at: -1, nodes: 0, gpus: 0, nodeArea: 0n, gpuArea: 0n });

  readonly #chunks: readonly Chunk[];
  readonly #tail: number;
  readonly #last: Step;

  private constructor(chunks: readonly Chunk[], tail: number, last: Step) {
    this.#chunks = chunks;
    this.#tail = tail;
    this.#last = last;
  }

  /** From `at` (an integer >= 0, not below the last step) on the counts differ by this much. */
  step(at: number, nodes: number, gpus: number): Timeline {
    const last = this.#last;
    const held = { nodes: last.nodes + nodes, gpus: last.gpus + gpus };
    if (at === last.at) return new Timeline(this.#chunks, this.#tail, { ...last, ...held });
    const next: Step = { at, ...held, ...integral(last, at) };
    const [chunks, tail] = this.#push(last);
    return new Timeline(chunks, tail, next);
  }

  /** Node and GPU time used in `[from, to]`; both ends may lie before, between or behind the steps. */
  used(from: number, to: number): { readonly nodeMs: bigint; readonly gpuMs: bigint } {
    if (to <= from) return { nodeMs: 0n, gpuMs: 0n };
    const a = this.#areaAt(from);
    const b = this.#areaAt(to);
    return { nodeMs: b.nodeArea - a.nodeArea, gpuMs: b.gpuArea - a.gpuArea };
  }

  /** The steps as `[time, nodes, gpus]` held from then on: canonical, without the integrals, which follow from them. */
  *steps(): IterableIterator<readonly [number, number, number]> {
    for (const [index, chunk] of this.#chunks.entries()) {
      const length = index === this.#chunks.length - 1 ? this.#tail : CHUNK;
      for (let i = 0; i < length; i++) {
        const at = chunk.times[i] as number;
        if (index > 0 || i > 0) yield [at, chunk.nodes[i] as number, chunk.gpus[i] as number];
      }
    }
    if (this.#chunks.length > 0) yield [this.#last.at, this.#last.nodes, this.#last.gpus];
  }

  static from(steps: Iterable<readonly [number, number, number]>): Timeline {
    let line = Timeline.empty;
    for (const [at, nodes, gpus] of steps) line = line.step(at, nodes - line.#last.nodes, gpus - line.#last.gpus);
    return line;
  }

  #push(step: Step): [readonly Chunk[], number] {
    const full = this.#chunks.length === 0 || this.#tail === CHUNK;
    const tail = full ? 0 : this.#tail;
    const last = this.#chunks.at(-1);
    let chunk = full || last === undefined ? makeChunk(FIRST) : last;
    const forked = !full && chunk.used !== tail;
    if (forked || tail === chunk.times.length) {
      const copy = makeChunk(forked ? chunk.times.length : Math.min(CHUNK, chunk.times.length * 4));
      copyChunk(chunk, copy, tail);
      chunk = copy;
    }
    chunk.times[tail] = step.at;
    chunk.nodes[tail] = step.nodes;
    chunk.gpus[tail] = step.gpus;
    chunk.nodeArea[tail] = step.nodeArea;
    chunk.gpuArea[tail] = step.gpuArea;
    chunk.used = tail + 1;
    if (!full && chunk === last) return [this.#chunks, tail + 1];
    return [full ? [...this.#chunks, chunk] : this.#chunks.with(-1, chunk), tail + 1];
  }

  #areaAt(at: number): { readonly nodeArea: bigint; readonly gpuArea: bigint } {
    if (at >= this.#last.at) return integral(this.#last, at);
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#chunks[middle]?.times[0] as number) <= at) low = middle + 1;
      else high = middle;
    }
    const chunk = this.#chunks[low - 1];
    if (chunk === undefined) return { nodeArea: 0n, gpuArea: 0n };
    let first = 0;
    let end = low === this.#chunks.length ? this.#tail : CHUNK;
    while (first < end) {
      const middle = (first + end) >> 1;
      if ((chunk.times[middle] as number) <= at) first = middle + 1;
      else end = middle;
    }
    const i = first - 1;
    return integral(
      {
        at: chunk.times[i] as number,
        nodes: chunk.nodes[i] as number,
        gpus: chunk.gpus[i] as number,
        nodeArea: chunk.nodeArea[i] as bigint,
        gpuArea: chunk.gpuArea[i] as bigint,
      },
      at,
    );
  }
}

const CHUNK = 256;
const FIRST = 4;

interface Step {
  readonly at: number;
  readonly nodes: number;
  readonly gpus: number;
  readonly nodeArea: bigint;
  readonly gpuArea: bigint;
}

interface Chunk {
  readonly times: Float64Array;
  readonly nodes: Float64Array;
  readonly gpus: Float64Array;
  readonly nodeArea: BigInt64Array;
  readonly gpuArea: BigInt64Array;
  /** Slots written by any version: a version whose tail is shorter is not the newest. */
  used: number;
}

function makeChunk(length: number): Chunk {
  return {
    times: new Float64Array(length),
    nodes: new Float64Array(length),
    gpus: new Float64Array(length),
    nodeArea: new BigInt64Array(length),
    gpuArea: new BigInt64Array(length),
    used: 0,
  };
}

function copyChunk(from: Chunk, to: Chunk, length: number): void {
  to.times.set(from.times.subarray(0, length));
  to.nodes.set(from.nodes.subarray(0, length));
  to.gpus.set(from.gpus.subarray(0, length));
  to.nodeArea.set(from.nodeArea.subarray(0, length));
  to.gpuArea.set(from.gpuArea.subarray(0, length));
}

/** The areas at `at`, which is not below the step. */
function integral(step: Step, at: number): { readonly nodeArea: bigint; readonly gpuArea: bigint } {
  const elapsed = BigInt(at - step.at);
  return {
    nodeArea: step.nodeArea + (step.nodes === 0 ? 0n : elapsed * BigInt(step.nodes)),
    gpuArea: step.gpuArea + (step.gpus === 0 ? 0n : elapsed * BigInt(step.gpus)),
  };
}
