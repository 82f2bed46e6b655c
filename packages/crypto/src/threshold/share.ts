import { checkArgument } from "@seneschal/kernel";
import { base64, bytesEqual, concat, fromBase64, readU32, u32, utf8 } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import { nobleCrypto } from "../provider/noble.ts";

/** `shamir`: an opaque secret over GF(256). `frost-ed25519`: a signing share, which never needs combining. */
export type ShareScheme = "shamir" | "frost-ed25519";

const SCHEMES: readonly ShareScheme[] = ["shamir", "frost-ed25519"];
const MAGIC = concat(utf8("SNS"), Uint8Array.of(1));
const HEADER = 4 + 1 + 16 + 4 + 3 + 2;
const CHECKSUM = 8;

/** What a share says about itself. */
export interface ShareHeader {
  readonly scheme: ShareScheme;
  /** 16 bytes, the same for every share and every epoch of one secret. */
  readonly setId: Uint8Array;
  /** Grows with every refresh, reshare or rotation; shares of different epochs never mix. */
  readonly epoch: number;
  readonly threshold: number;
  readonly total: number;
  /** 1..total; chosen by us, never the library's x coordinate. */
  readonly index: number;
}

/**
 * One secret share in its envelope. The payload is not enumerable and has no JSON form, so that logging or serialising a
 * share shows its header only; {@link Share.encode} is the one way out.
 *
 * Layout, big endian: `"SNS" 0x01 | scheme u8 | set id 16 | epoch u32 | threshold u8 | total u8 | index u8 | length u16 |
 * payload | first 8 bytes of SHA-256 over all before`.
 *
 * @example
 * ```ts
 * import { Share } from "@seneschal/crypto/threshold";
 * const share = new Share(
 *   { scheme: "shamir", setId: new Uint8Array(16), epoch: 1, threshold: 2, total: 3, index: 1 }, Uint8Array.of(42));
 * console.log(Share.decode(share.encode()).index); // 1
 * ```
 */
export class Share implements ShareHeader {
  readonly scheme: ShareScheme;
  readonly setId: Uint8Array;
  readonly epoch: number;
  readonly threshold: number;
  readonly total: number;
  readonly index: number;
  readonly #payload: Uint8Array;

  /** Throws `share_invalid` or `invalid_threshold` when the header contradicts itself. */
  constructor(header: ShareHeader, payload: Uint8Array) {
    checkArgument("header", header, "object");
    checkArgument("payload", payload, "bytes");
    assertThreshold(header.threshold, header.total);
    if (header.setId.length !== 16) throw cryptoError("share_invalid", "share set id must be 16 bytes");
    if (!Number.isInteger(header.index) || header.index < 1 || header.index > header.total) {
      throw cryptoError("share_invalid", "share index out of range");
    }
    if (!Number.isInteger(header.epoch) || header.epoch < 1 || header.epoch > 0xffffffff) {
      throw cryptoError("share_invalid", "share epoch out of range");
    }
    if (payload.length === 0 || payload.length > 0xffff) throw cryptoError("share_invalid", "share payload of impossible length");
    this.scheme = header.scheme;
    this.setId = Uint8Array.from(header.setId);
    this.epoch = header.epoch;
    this.threshold = header.threshold;
    this.total = header.total;
    this.index = header.index;
    this.#payload = Uint8Array.from(payload);
  }

  /** The secret part; a fresh copy that the caller may zero. */
  payload(): Uint8Array {
    return Uint8Array.from(this.#payload);
  }

  /** Overwrites the payload. The share is useless afterwards. */
  erase(): void {
    this.#payload.fill(0);
  }

  /** The envelope's bytes. */
  toBytes(): Uint8Array {
    const body = concat(
      MAGIC,
      Uint8Array.of(SCHEMES.indexOf(this.scheme) + 1),
      this.setId,
      u32(this.epoch),
      Uint8Array.of(this.threshold, this.total, this.index, this.#payload.length >> 8, this.#payload.length & 255),
      this.#payload,
    );
    return concat(body, checksum(body));
  }

  /** What is public of it, for logs and records: never the payload. {@link encode} writes the whole share. */
  toJSON() {
    const { scheme, setId, epoch, threshold, total, index } = this;
    return { scheme, set_id: base64(setId), epoch, threshold, total_shares: total, index };
  }

  /** Base64 text: `data` of a share in the HTTP interface. */
  encode(): string {
    return base64(this.toBytes());
  }

  /** Reads an envelope. Throws `share_invalid` with `details.problem` `malformed` or `checksum`. */
  static decode(text: string): Share {
    let bytes: Uint8Array;
    try {
      bytes = fromBase64(text);
    } catch (cause) {
      throw malformed("share is not base64", cause);
    }
    return Share.fromBytes(bytes);
  }

  /** {@link decode} for bytes. */
  static fromBytes(bytes: Uint8Array): Share {
    checkArgument("bytes", bytes, "bytes");
    if (bytes.length < HEADER + CHECKSUM || !bytesEqual(bytes.subarray(0, 4), MAGIC))
      throw malformed("not a share of this format");
    const body = bytes.subarray(0, bytes.length - CHECKSUM);
    if (!bytesEqual(checksum(body), bytes.subarray(bytes.length - CHECKSUM))) {
      throw cryptoError("share_invalid", "share is damaged: checksum differs", { problem: "checksum" });
    }
    const at = (offset: number): number => bytes[offset] ?? 0;
    const scheme = SCHEMES[at(4) - 1];
    const length = at(28) * 256 + at(29);
    if (scheme === undefined || body.length !== HEADER + length) throw malformed("share of an unknown scheme or length");
    const header = {
      scheme,
      setId: bytes.slice(5, 21),
      epoch: readU32(bytes, 21),
      threshold: at(25),
      total: at(26),
      index: at(27),
    };
    try {
      return new Share(header, body.subarray(HEADER));
    } catch (cause) {
      throw malformed("share header contradicts itself", cause);
    }
  }
}

/** Throws `invalid_threshold` unless 2 <= threshold <= total <= 255. One holder alone is not a threshold. */
export function assertThreshold(threshold: number, total: number): void {
  if (!Number.isInteger(threshold) || !Number.isInteger(total) || threshold < 2 || threshold > total || total > 255) {
    throw cryptoError("invalid_threshold", "threshold must be at least 2 and at most the total, total at most 255", {
      threshold,
      total,
    });
  }
}

function checksum(body: Uint8Array): Uint8Array {
  return nobleCrypto.hash("sha256", body).subarray(0, CHECKSUM);
}

function malformed(message: string, cause?: unknown) {
  return cryptoError("share_invalid", message, { problem: "malformed" }, cause);
}
