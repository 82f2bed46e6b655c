import { snappyUncompress } from "hyparquet";
import { crc32c } from "./crc32c.ts";
import { Damage, maskedCrc, Reader } from "./damage.ts";

const footerBytes = 48;
const trailerBytes = 5;
const magic = Buffer.from("57fb808b247547db", "hex");
const snappy = 1;

interface Handle {
  readonly offset: number;
  readonly size: number;
}

/**
 * Checks a table of LevelDB: every block against its checksum, and that blocks and footer are all there is, without gap or overlap. LevelDB
 * reads blocks unchecked.
 *
 * @throws Damage
 */
export function checkTable(bytes: Buffer): void {
  const end = bytes.length - footerBytes;
  if (end < 0 || !bytes.subarray(-magic.length).equals(magic))
    throw new Damage(Math.max(0, end), "the footer is not one of a table");
  const footer = new Reader(bytes.subarray(end, bytes.length - magic.length));
  const [metaindex, index] = [handleOf(footer), handleOf(footer)];
  const filler = bytes.subarray(end + footer.at, bytes.length - magic.length);
  if (filler.some((byte) => byte !== 0)) throw new Damage(end + footer.at, "what fills the footer is not zero");
  if (!canonical(bytes.subarray(end, end + footer.at), [metaindex, index]))
    throw new Damage(end, "the footer is not as it is written");
  const handles = [...entriesOf(bytes, index), ...entriesOf(bytes, metaindex), metaindex, index];
  let at = 0;
  for (const { offset, size } of handles.sort((a, b) => a.offset - b.offset)) {
    if (offset !== at) throw new Damage(at, "a block is not where the one before it ends");
    checkBlock(bytes, { offset, size });
    at = offset + size + trailerBytes;
  }
  if (at !== end) throw new Damage(at, "something lies between the last block and the footer");
}

function handleOf(reader: Reader): Handle {
  return { offset: reader.number(), size: reader.number() };
}

/** Numbers have one spelling, of as few bytes as they take. */
function canonical(written: Buffer, handles: readonly Handle[]): boolean {
  const bytes = handles.flatMap(({ offset, size }) => [offset, size]).flatMap(varint);
  return written.equals(Buffer.from(bytes));
}

function varint(value: number): readonly number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}

/** A block as it is stored, without its trailer. */
function checkBlock(bytes: Buffer, { offset, size }: Handle): { readonly content: Buffer; readonly compression: number } {
  const trailer = offset + size;
  if (trailer + trailerBytes > bytes.length - footerBytes) throw new Damage(offset, "a block is longer than its table");
  if (maskedCrc(crc32c(bytes.subarray(offset, trailer + 1))) !== bytes.readUInt32LE(trailer + 1))
    throw new Damage(offset, "a block does not match its checksum");
  return { content: bytes.subarray(offset, trailer), compression: bytes[trailer] as number };
}

/** The handles that are the values of a block. */
function entriesOf(bytes: Buffer, handle: Handle): readonly Handle[] {
  const { content, compression } = checkBlock(bytes, handle);
  const block = compression === snappy ? expand(content) : content;
  const restarts = block.length < 4 ? Number.NaN : block.readUInt32LE(block.length - 4);
  const entries = new Reader(block.subarray(0, block.length - 4 - 4 * restarts));
  const handles: Handle[] = [];
  while (!entries.done) {
    entries.number();
    const [unshared, length] = [entries.number(), entries.number()];
    entries.take(unshared);
    handles.push(handleOf(new Reader(entries.take(length))));
  }
  return handles;
}

function expand(content: Buffer): Buffer {
  const expanded = Buffer.alloc(new Reader(content).number());
  snappyUncompress(content, expanded);
  return expanded;
}
