/** Looks between one worker that could not be started and the next, doubled with each one more up to a minute's. */
const [FIRST, LAST] = [1, 1200];

/** When a worker may be started, after others whose module could not be loaded: counted in looks, as all else of a pool. */
export class StartBackoff {
  #wait = 0;
  #left = 0;
  /** Why the last one was not started; `undefined` once one was. */
  cause: unknown;

  /** The last worker that was started could not load its module. */
  get failing(): boolean {
    return this.#wait > 0;
  }

  get mayStart(): boolean {
    return this.#left === 0;
  }

  failed(cause: unknown): void {
    this.#wait = Math.min(LAST, this.#wait === 0 ? FIRST : this.#wait * 2);
    this.#left = this.#wait;
    this.cause = cause;
  }

  started(): void {
    [this.#wait, this.#left, this.cause] = [0, 0, undefined];
  }

  look(): void {
    this.#left = Math.max(0, this.#left - 1);
  }
}
