/** A small generator of numbers (mulberry32): the same seed gives the same run. */
export function numbersFrom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const MAX_LENGTH = 16_384;
const ODD = [0, 1, 0x7f, 0x80, 0xff, 0x0a, 0x22, 0x5c, 0x20, 0x30];

/** A variation of one of the seeds: a few flips, cuts, repeats, words of the format, pieces of another seed. */
export function mutate(seeds: readonly Uint8Array[], words: readonly Uint8Array[], below: (n: number) => number): Uint8Array {
  let bytes = seeds[below(seeds.length)] ?? new Uint8Array();
  for (let left = 1 + below(6); left > 0; left--) {
    const at = below(bytes.length + 1);
    const length = Math.min(bytes.length - at, 1 + below(below(8) === 0 ? 512 : 8));
    const piece = bytes.subarray(at, at + length);
    switch (below(8)) {
      case 0:
        bytes = flipped(bytes, at, 1 << below(8));
        break;
      case 1:
        bytes = spliced(bytes, at, 1, Uint8Array.of(ODD[below(ODD.length)] as number));
        break;
      case 2:
        bytes = spliced(bytes, at, length, new Uint8Array());
        break;
      case 3:
        bytes = spliced(bytes, at, 0, repeated(piece, 1 + below(below(4) === 0 ? 200 : 3)));
        break;
      case 4: {
        const other = seeds[below(seeds.length)] ?? bytes;
        const from = below(other.length + 1);
        bytes = spliced(bytes, at, below(length + 1), other.subarray(from, from + 1 + below(64)));
        break;
      }
      case 5:
        bytes = spliced(bytes, at, 0, Uint8Array.of(below(256)));
        break;
      default:
        if (words.length > 0) bytes = spliced(bytes, at, below(3) === 0 ? length : 0, words[below(words.length)] as Uint8Array);
    }
  }
  return bytes.subarray(0, MAX_LENGTH);
}

function flipped(bytes: Uint8Array, at: number, bit: number): Uint8Array {
  const out = bytes.slice();
  if (at < out.length) out[at] = (out[at] as number) ^ bit;
  return out;
}

function repeated(piece: Uint8Array, times: number): Uint8Array {
  const out = new Uint8Array(piece.length * times);
  for (let i = 0; i < times; i++) out.set(piece, i * piece.length);
  return out;
}

function spliced(bytes: Uint8Array, at: number, remove: number, put: Uint8Array): Uint8Array {
  const out = new Uint8Array(bytes.length - Math.min(remove, bytes.length - at) + put.length);
  out.set(bytes.subarray(0, at));
  out.set(put, at);
  out.set(bytes.subarray(Math.min(bytes.length, at + remove)), at + put.length);
  return out;
}
