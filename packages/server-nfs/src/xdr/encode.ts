import type { Shape, Xdr } from "./types.ts";

const blank = Buffer.alloc(3);

/** The bytes of a value. Large opaque values are not copied, but become pieces of their own. Throws `RangeError` for what does not fit its type. */
export function encodeXdr<T>(type: Xdr<T>, value: T): readonly Uint8Array[] {
  const out = createWriter();
  write(out, type, value);
  return out.end();
}

/** From so many bytes on an opaque value is not worth a copy. */
const large = 4096;

interface Writer {
  word(value: number): void;
  bytes(bytes: Uint8Array): void;
  end(): readonly Uint8Array[];
}

function createWriter(): Writer {
  const pieces: Uint8Array[] = [];
  let page = Buffer.allocUnsafe(512);
  let begin = 0;
  let at = 0;
  const flush = (): void => {
    if (at > begin) pieces.push(page.subarray(begin, at));
    begin = at;
  };
  const room = (bytes: number): void => {
    if (at + bytes <= page.length) return;
    flush();
    page = Buffer.allocUnsafe(Math.max(8192, bytes));
    begin = 0;
    at = 0;
  };
  return {
    word(value) {
      if (!Number.isInteger(value) || value < 0 || value > 0xffffffff) throw new RangeError(`${value} is no unsigned of 32 bits`);
      room(4);
      at = page.writeUInt32BE(value, at);
    },
    bytes(bytes) {
      const padding = (4 - (bytes.length % 4)) % 4;
      if (bytes.length >= large) {
        flush();
        pieces.push(bytes);
      } else {
        room(bytes.length);
        page.set(bytes, at);
        at += bytes.length;
      }
      room(padding);
      page.set(blank.subarray(0, padding), at);
      at += padding;
    },
    end() {
      flush();
      return pieces;
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the type of the value is that of its shape
function write(out: Writer, shape: Shape, value: any): void {
  switch (shape.kind) {
    case "unsigned":
      out.word(value);
      return;
    case "hyper": {
      if (value < 0n || value >= 1n << 64n) throw new RangeError(`${value} is no unsigned of 64 bits`);
      out.word(Number(value >> 32n));
      out.word(Number(value & 0xffffffffn));
      return;
    }
    case "boolean":
      out.word(value ? 1 : 0);
      return;
    case "enumeration": {
      const index = shape.names.indexOf(value);
      if (index < 0) throw new RangeError(`${value} is none of ${shape.names.join(", ")}`);
      out.word(shape.first + index);
      return;
    }
    case "fixed":
      if (value.length !== shape.length) throw new RangeError(`${value.length} bytes where ${shape.length} belong`);
      out.bytes(value);
      return;
    case "opaque":
      if (value.length > shape.max) throw new RangeError(`${value.length} bytes where ${shape.max} are the most`);
      out.word(value.length);
      out.bytes(value);
      return;
    case "array":
    case "list":
      if (value.length > shape.max) throw new RangeError(`${value.length} values where ${shape.max} are the most`);
      if (shape.kind === "array") out.word(value.length);
      for (const item of value) {
        if (shape.kind === "list") out.word(1);
        write(out, shape.item, item);
      }
      if (shape.kind === "list") out.word(0);
      return;
    case "optional":
      out.word(value === undefined ? 0 : 1);
      if (value !== undefined) write(out, shape.item, value);
      return;
    case "struct":
      for (const [name, field] of shape.fields) write(out, field, value[name]);
      return;
    case "choice": {
      const arm = shape.arms.find(([name]) => name === value.kind);
      if (arm === undefined) throw new RangeError(`${value.kind} is no arm of the union`);
      out.word(arm[1]);
      write(out, arm[2], value.value);
      return;
    }
    case "result":
      out.word(value.status);
      if (value.status === 0) write(out, shape.ok, value.value);
      else write(out, shape.failed, value.failure);
      return;
    case "nothing":
      return;
    default:
      shape satisfies never;
  }
}
