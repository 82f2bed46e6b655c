/** After so many looks what was counted counts half. */
const HALF = 100;
/** Who was seen so often lately costs much. */
const DEAR = 6;

/** What owners cost lately: how often they were seen at a task that takes long, the longer ago the less. */
export class OwnerCosts {
  #seen = new Map<string, number>();
  #looks = 0;

  /** Begins a look at who works. */
  look(): void {
    this.#looks = (this.#looks + 1) % HALF;
    // A new table: what has faded is forgotten.
    if (this.#looks === 0)
      this.#seen = new Map([...this.#seen].flatMap(([owner, cost]) => (cost < 2 ? [] : [[owner, cost / 2] as const])));
  }

  /** An owner's task was seen to take long. */
  add(owner: string): void {
    this.#seen.set(owner, this.of(owner) + 1);
  }

  of(owner: string): number {
    return this.#seen.get(owner) ?? 0;
  }

  isDear(owner: string): boolean {
    return this.of(owner) >= DEAR;
  }
}
