import { CodedError } from "@seneschal/kernel";

/** The life of a store or a log: calls run while it is open, and closing waits for those that run. */
export class InFlight {
  readonly #what: "store" | "log";
  #running = 0;
  /** Calls that began before the last {@link quiesce}, which waits for them. */
  #earlier = 0;
  #epoch = 0;
  #settled: () => void = () => {};
  #closed: Promise<void> | undefined;
  #drained: () => void = () => {};

  constructor(what: "store" | "log") {
    this.#what = what;
  }

  /** Throws CodedError `store_closed` or `log_closed` after `close`. */
  check(): void {
    if (this.#closed !== undefined) throw new CodedError(`${this.#what}_closed`, `the ${this.#what} is closed`);
  }

  /** Runs one call; its synchronous part runs before this returns. */
  async run<T>(call: () => Promise<T>): Promise<T> {
    this.check();
    this.#running += 1;
    const epoch = this.#epoch;
    try {
      return await call();
    } finally {
      this.#running -= 1;
      if (this.#running === 0) this.#drained();
      if (epoch !== this.#epoch) {
        this.#earlier -= 1;
        if (this.#earlier === 0) this.#settled();
      }
    }
  }

  /** Resolves when every call that runs now has ended; new ones are not held up. Not within such a call, and one at a time. */
  quiesce(): Promise<void> {
    this.check();
    if (this.#earlier > 0) throw new CodedError(`${this.#what}_failed`, "it is being quiesced already");
    this.#epoch += 1;
    this.#earlier = this.#running;
    if (this.#earlier === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#settled = resolve;
    });
  }

  /** Refuses new calls at once; resolves when the running ones have ended. */
  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#drained = resolve;
      if (this.#running === 0) resolve();
    });
    return this.#closed;
  }
}
