import { protocolError } from "./protocol-error.ts";
import type { Shape, Xdr } from "./types.ts";

/**
 * The value that the bytes are, all of them. Opaque values are views of the input. Lengths are looked at before anything is made of them.
 * Throws `xdr_invalid`, and nothing else, whatever the bytes are.
 */
export function decodeXdr<T>(type: Xdr<T>, bytes: Uint8Array): T {
  const { value, rest } = decodeXdrPrefix(type, bytes);
  if (rest.length > 0) throw protocolError("xdr_invalid", `${rest.length} bytes too many`);
  return value;
}

/** The value at the beginning of the bytes, and what follows it. Throws `xdr_invalid`. */
export function decodeXdrPrefix<T>(type: Xdr<T>, bytes: Uint8Array): { readonly value: T; readonly rest: Uint8Array } {
  const reader = new Reader(bytes);
  const value = read(reader, type) as T;
  return { value, rest: reader.rest() };
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  word(): number {
    if (this.left < 4) throw protocolError("xdr_invalid", "the bytes end within a value");
    const value = this.#bytes.readUInt32BE(this.#at);
    this.#at += 4;
    return value;
  }

  bytes(length: number): Uint8Array {
    const padded = length + ((4 - (length % 4)) % 4);
    if (this.left < padded) throw protocolError("xdr_invalid", "the bytes end within a value");
    const bytes = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += padded;
    return bytes;
  }

  rest(): Uint8Array {
    return this.#bytes.subarray(this.#at);
  }
}

function read(from: Reader, shape: Shape): unknown {
  switch (shape.kind) {
    case "unsigned":
      return from.word();
    case "hyper":
      return (BigInt(from.word()) << 32n) | BigInt(from.word());
    case "boolean":
      return flag(from);
    case "enumeration": {
      const value = from.word();
      const name = shape.names[value - shape.first];
      if (name === undefined) throw protocolError("xdr_invalid", `${value} is none of ${shape.names.join(", ")}`);
      return name;
    }
    case "fixed":
      return from.bytes(shape.length);
    case "opaque": {
      const length = from.word();
      if (length > shape.max) throw protocolError("xdr_invalid", `${length} bytes where ${shape.max} are the most`);
      return from.bytes(length);
    }
    case "array": {
      const length = from.word();
      // A value takes four bytes at least.
      if (length > shape.max || length > from.left / 4)
        throw protocolError("xdr_invalid", `${length} values where ${shape.max} are the most`);
      const items: unknown[] = [];
      for (let i = 0; i < length; i++) items.push(read(from, shape.item));
      return items;
    }
    case "list": {
      const items: unknown[] = [];
      while (flag(from)) {
        if (items.length === shape.max) throw protocolError("xdr_invalid", `more values than ${shape.max}`);
        items.push(read(from, shape.item));
      }
      return items;
    }
    case "optional":
      return flag(from) ? read(from, shape.item) : undefined;
    case "struct": {
      const fields: Record<string, unknown> = {};
      for (const [name, field] of shape.fields) fields[name] = read(from, field);
      return fields;
    }
    case "choice": {
      const tag = from.word();
      const arm = shape.arms.find(([, number]) => number === tag);
      if (arm === undefined) throw protocolError("xdr_invalid", `the union has no arm ${tag}`);
      return { kind: arm[0], value: read(from, arm[2]) };
    }
    case "result": {
      const status = from.word();
      return status === 0 ? { status, value: read(from, shape.ok) } : { status, failure: read(from, shape.failed) };
    }
    case "nothing":
      return undefined;
    default:
      return shape satisfies never;
  }
}

function flag(from: Reader): boolean {
  const value = from.word();
  if (value > 1) throw protocolError("xdr_invalid", `${value} is neither true nor false`);
  return value === 1;
}
