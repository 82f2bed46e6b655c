import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { snappyUncompress } from "hyparquet";
import { decompressLz4, decompressLz4Raw, decompressZstd } from "hyparquet-compressors";

/** Unpacks the bytes of a page. Throws when they are not of the codec or not of the length that the page's header says. */
export function decompress(codec: string, packed: Uint8Array, length: number): Uint8Array {
  const bytes = unpacked(codec, packed, length);
  if (bytes.length !== length) throw new Error("another length than the header says");
  return bytes;
}

function unpacked(codec: string, packed: Uint8Array, length: number): Uint8Array {
  switch (codec) {
    case "UNCOMPRESSED":
      return packed;
    case "SNAPPY": {
      const bytes = new Uint8Array(length);
      snappyUncompress(packed, bytes);
      return bytes;
    }
    case "GZIP":
      return gunzipSync(packed, { maxOutputLength: Math.max(1, length) });
    case "BROTLI":
      return brotliDecompressSync(packed, { maxOutputLength: Math.max(1, length) });
    case "ZSTD":
      return decompressZstd(packed, new Uint8Array(length));
    case "LZ4":
      return decompressLz4(packed, length);
    case "LZ4_RAW":
      return decompressLz4Raw(packed, length);
    default:
      throw new Error("a codec that is not read");
  }
}
