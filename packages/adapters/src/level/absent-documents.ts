import { KeyPrints } from "./key-prints.ts";

/** When so many new documents are remembered, remembering begins anew. */
const maxRemembered = 1 << 16;

/**
 * Which documents are certainly not there. An id that is greater than all of its collection is new, and most new ids are, as
 * they begin with the time; of those not long ago it is remembered which were written. Told of every key before it is written.
 */
export class AbsentDocuments {
  /** By the place of a collection: the greatest key when remembering began. Of what is below nothing is known. */
  #floors: ReadonlyMap<string, string>;
  readonly #greatest: Map<string, string>;
  readonly #written = new KeyPrints();

  /** `greatest`: the greatest key of every collection by its place; of an empty one the place. */
  constructor(greatest: ReadonlyMap<string, string>) {
    this.#floors = new Map(greatest);
    this.#greatest = new Map(greatest);
  }

  has(key: string): boolean {
    const floor = this.#floors.get(placeOf(key));
    return floor !== undefined && key > floor && !this.#written.mayHave(key);
  }

  writing(key: string): void {
    const place = placeOf(key);
    const greatest = this.#greatest.get(place);
    if (greatest === undefined || key <= (this.#floors.get(place) as string)) return;
    if (key > greatest) this.#greatest.set(place, key);
    this.#written.add(key);
    if (this.#written.size < maxRemembered) return;
    this.#floors = new Map(this.#greatest);
    this.#written.clear();
  }
}

/** `d/<coll>/` of a document's key. */
function placeOf(key: string): string {
  return key.slice(0, key.indexOf("/", 2) + 1);
}
