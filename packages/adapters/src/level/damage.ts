/** Something in a file that is not what was written. */
export class Damage extends Error {
  readonly offset: number;

  constructor(offset: number, what: string) {
    super(what);
    this.offset = offset;
  }
}

/** A checksum as LevelDB stores it: turned and shifted, so that checksums of checksums mean something. */
export function maskedCrc(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

/** Reads numbers and byte strings as LevelDB writes them. */
export class Reader {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, at = 0) {
    this.#bytes = bytes;
    this.#at = at;
  }

  get at(): number {
    return this.#at;
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** A varint of at most 53 bits. Throws {@link Damage}. */
  number(): number {
    let value = 0;
    for (let scale = 1; scale < 2 ** 53; scale *= 128) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) break;
      this.#at += 1;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
    throw new Damage(this.#at, "a number cannot be read");
  }

  take(length: number): Buffer {
    if (this.#at + length > this.#bytes.length) throw new Damage(this.#at, "a text is longer than what holds it");
    const taken = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return taken;
  }

  text(): Buffer {
    return this.take(this.number());
  }
}
