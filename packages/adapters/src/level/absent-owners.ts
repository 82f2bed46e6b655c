import { KeyPrints } from "./key-prints.ts";
import { rangeOf } from "./layout.ts";
import type { LevelDb } from "./open-level.ts";

/** More are not remembered: 16 MiB. */
const maxRemembered = 1 << 21;

/** Which keys of unique indexes certainly belong to nobody. Told of every key before it is written. */
export class AbsentOwners {
  readonly #places: ReadonlySet<string>;
  readonly #written = new KeyPrints();
  #complete = false;
  #tooMany = false;

  /** `places`: of the unique indexes. */
  constructor(places: readonly string[]) {
    this.#places = new Set(places);
  }

  /** Reads the keys that are there; before that nothing is certain. */
  async read(db: LevelDb): Promise<void> {
    for (const place of this.#places)
      for await (const key of db.keys(rangeOf(place))) {
        this.#add(key.toString("latin1"));
        if (this.#tooMany) return;
      }
    this.#complete = true;
  }

  has(key: string): boolean {
    return this.#complete && !this.#tooMany && !this.#written.mayHave(key);
  }

  /** `index`: the place of any index, `key`: the rest. */
  writing(index: string, key: string): void {
    if (this.#places.has(index)) this.#add(index + key);
  }

  #add(key: string): void {
    if (this.#tooMany) return;
    this.#written.add(key);
    if (this.#written.size <= maxRemembered) return;
    this.#tooMany = true;
    this.#written.clear();
  }
}
