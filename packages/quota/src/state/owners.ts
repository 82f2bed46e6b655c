/** Who holds a node, and how often that has changed. */
interface Chunk {
  readonly owner: (string | null)[];
  readonly turns: number[];
}

const SIZE = 128;

/**
 * The owners of nodes by their place (0, 1, 2 ...): an immutable vector in chunks, kept apart from the nodes because an
 * assignment changes the owners of hundreds and nothing else of them. `set` copies the chunks that it touches.
 */
export class Owners {
  static readonly none = new Owners([]);

  readonly #chunks: readonly Chunk[];

  private constructor(chunks: readonly Chunk[]) {
    this.#chunks = chunks;
  }

  /** The allocation that holds the node at this place. */
  of(place: number): string | null {
    return this.#chunks[Math.floor(place / SIZE)]?.owner[place % SIZE] ?? null;
  }

  /** How often the owner at this place has changed. */
  turns(place: number): number {
    return this.#chunks[Math.floor(place / SIZE)]?.turns[place % SIZE] ?? 0;
  }

  /** Gives all of these places to one owner, or to nobody. */
  set(places: readonly number[], owner: string | null): Owners {
    const chunks = this.#chunks.slice();
    const own = new Set<number>();
    for (const place of places) {
      const at = Math.floor(place / SIZE);
      if (!own.has(at)) {
        while (chunks.length <= at) chunks.push(EMPTY);
        const { owner, turns } = chunks[at] as Chunk;
        chunks[at] = { owner: owner.slice(), turns: turns.slice() };
        own.add(at);
      }
      const chunk = chunks[at] as Chunk;
      chunk.owner[place % SIZE] = owner;
      chunk.turns[place % SIZE] = (chunk.turns[place % SIZE] as number) + 1;
    }
    return new Owners(chunks);
  }
}

const EMPTY: Chunk = { owner: new Array<string | null>(SIZE).fill(null), turns: new Array<number>(SIZE).fill(0) };
