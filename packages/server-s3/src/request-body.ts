import { createHash } from "node:crypto";
import { type Checksum, checksums, isChecksumHeader, isChecksumValue } from "./checksums.ts";
import { s3Error } from "./errors.ts";
import { emptyHash, equalText, hmac, sha256, type Verified } from "./sigv4.ts";

const maxPut = 5 * 1024 ** 3;
const maxLine = 8 * 1024;

/** The payload of a request, decoded and verified on the way. */
export interface RequestBody {
  /** Bytes of the payload, where they are known before. */
  readonly length: number | undefined;
  /** Ends only when everything that was declared about the payload holds; else it throws before its end. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Verified checksums by header name; complete once the bytes have ended. */
  readonly verified: Readonly<Record<string, string>>;
}

type Headers = Readonly<Record<string, string | undefined>>;

/**
 * Decodes a payload: plain, `aws-chunked` signed, signed with trailer, unsigned with trailer. Checks the signed hash or
 * chunk signatures, Content-MD5, `x-amz-checksum-*` in header or trailer, and the length. A checksum by `algorithm` is among the
 * verified ones although the request names none; `null`: those in the headers are of something else than the payload.
 */
export function requestBody(
  source: AsyncIterable<Uint8Array>,
  headers: Headers,
  proof: Verified,
  algorithm?: string | null,
): RequestBody {
  const streaming = proof.payloadHash.startsWith("STREAMING-");
  const decoded = headers["x-amz-decoded-content-length"];
  const declared = streaming ? decoded : headers["content-length"];
  if ((streaming || decoded !== undefined) && !/^\d+$/.test(decoded ?? ""))
    throw s3Error("MissingContentLength", "x-amz-decoded-content-length is missing, or is no number");
  const length = declared === undefined ? undefined : Number(declared);
  if (length !== undefined && !(Number.isSafeInteger(length) && length >= 0))
    throw s3Error("InvalidArgument", "the content length is malformed");
  if (length !== undefined && length > maxPut) throw s3Error("EntityTooLarge", "one PUT takes at most 5 GiB");
  if (algorithm !== null) checkDeclaredChecksums(headers);
  const unknown = announcedTrailers(headers).find((name) => !isChecksumHeader(name));
  if (unknown !== undefined) throw s3Error("NotImplemented", `The trailer ${JSON.stringify(unknown)} is not implemented here.`);
  const verified: Record<string, string> = {};
  const trailers: Record<string, string> = {};
  const payload = streaming ? decodeChunks(source, headers, proof, trailers) : source;
  return { length, verified, bytes: verify(payload, headers, { proof, length, algorithm }, trailers, verified) };
}

function announcedTrailers(headers: Headers): readonly string[] {
  const names = (headers["x-amz-trailer"] ?? "").split(",").map((name) => name.trim().toLowerCase());
  return names.filter((name) => name !== "");
}

/** One checksum at most, of a known algorithm, whose value has that algorithm's length. */
function checkDeclaredChecksums(headers: Headers): void {
  const wanted = headers["x-amz-sdk-checksum-algorithm"]?.toLowerCase();
  if (wanted !== undefined && !Object.hasOwn(checksums, wanted))
    throw s3Error("InvalidRequest", "Value for x-amz-sdk-checksum-algorithm header is invalid.");
  const declared = [...Object.keys(headers), ...announcedTrailers(headers)].filter(isChecksumHeader);
  if (declared.length > 1)
    throw s3Error("InvalidRequest", "Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.");
  const [name] = declared;
  if (name === undefined) return;
  if (wanted !== undefined && name !== `x-amz-checksum-${wanted}`)
    throw s3Error("InvalidRequest", "Value for x-amz-sdk-checksum-algorithm header is invalid.");
  const value = headers[name];
  if (value !== undefined && !isChecksumValue(name, value))
    throw s3Error("InvalidRequest", `Value for ${name} header is invalid.`);
}

async function* verify(
  payload: AsyncIterable<Uint8Array>,
  headers: Headers,
  expected: { readonly proof: Verified; readonly length: number | undefined; readonly algorithm: string | null | undefined },
  trailers: Record<string, string>,
  verified: Record<string, string>,
): AsyncGenerator<Uint8Array> {
  const { proof, length, algorithm } = expected;
  const signed = /^[0-9a-f]{64}$/.test(proof.payloadHash) ? createHash("sha256") : undefined;
  const md5 = headers["content-md5"] === undefined ? undefined : createHash("md5");
  if (md5 !== undefined && Buffer.from(headers["content-md5"] ?? "", "base64").length !== 16)
    throw s3Error("InvalidDigest", "Content-MD5 must be the base64 of 16 bytes", {
      elements: { "Content-MD5": headers["content-md5"] ?? "" },
    });
  const running = new Map<string, Checksum>();
  const own = algorithm == null ? [] : [`x-amz-checksum-${algorithm}`];
  for (const name of [...(algorithm === null ? [] : Object.keys(headers)), ...announcedTrailers(headers), ...own]) {
    const found = isChecksumHeader(name) ? checksums[name.slice("x-amz-checksum-".length)] : undefined;
    if (found !== undefined) running.set(name, await found.open());
  }
  let size = 0;
  for await (const piece of payload) {
    size += piece.length;
    if (size > maxPut) throw s3Error("EntityTooLarge", "one PUT takes at most 5 GiB");
    // INVARIANT: no more bytes come than `length`, for which there is room.
    if (length !== undefined && size > length) throw tooMany(length);
    signed?.update(piece);
    md5?.update(piece);
    for (const checksum of running.values()) checksum.update(piece);
    yield piece;
  }
  if (length !== undefined && size < length) throw s3Error("IncompleteBody", `${size} bytes came, ${length} were announced`);
  const payloadHash = signed?.digest("hex");
  if (payloadHash !== undefined && !equalText(payloadHash, proof.payloadHash))
    throw s3Error("XAmzContentSHA256Mismatch", "the payload is not the one that was signed", {
      elements: { ClientComputedContentSHA256: proof.payloadHash, S3ComputedContentSHA256: payloadHash },
    });
  const calculated = md5?.digest();
  const expectedMd5 = Buffer.from(headers["content-md5"] ?? "", "base64");
  if (calculated !== undefined && !calculated.equals(expectedMd5))
    throw s3Error("BadDigest", "The Content-MD5 you specified did not match what we received.", {
      elements: { ExpectedDigest: expectedMd5.toString("hex"), CalculatedDigest: calculated.toString("base64") },
    });
  for (const [name, checksum] of running) {
    const actual = checksum.digest();
    const trailer = trailers[name];
    if (trailer !== undefined && !isChecksumValue(name, trailer))
      throw s3Error("InvalidRequest", `Value for ${name} trailing header is invalid.`);
    const given = trailer ?? headers[name] ?? (own.includes(name) ? actual : undefined);
    if (given !== actual)
      throw s3Error(
        "BadDigest",
        `The ${name.slice("x-amz-checksum-".length).toUpperCase()} you specified did not match the calculated checksum.`,
      );
    verified[name] = actual;
  }
}

function tooMany(length: number) {
  return s3Error("IncompleteBody", `more bytes came than the ${length} that were announced`);
}

/** Of all chunks but the last. */
const smallestChunk = 8192;

/** The `aws-chunked` framing: `<hex size>[;chunk-signature=<hex>]CRLF <bytes> CRLF`, a zero chunk, trailers. */
async function* decodeChunks(
  source: AsyncIterable<Uint8Array>,
  headers: Headers,
  proof: Verified,
  trailers: Record<string, string>,
): AsyncGenerator<Uint8Array> {
  const { payloadHash: form, amzDate, scope } = proof;
  const forms = [
    "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
    "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER",
    "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
  ];
  if (!forms.includes(form)) throw s3Error("NotImplemented", `the payload form ${form} is not supported`);
  const signs = form !== "STREAMING-UNSIGNED-PAYLOAD-TRAILER";
  let previous = proof.signature;
  const check = (label: string, hash: string, given: string | undefined): void => {
    const extra = label === "PAYLOAD" ? [emptyHash] : [];
    const expected = hmac(
      proof.signingKey,
      [`AWS4-HMAC-SHA256-${label}`, amzDate, scope, previous, ...extra, hash].join("\n"),
    ).toString("hex");
    if (!equalText(expected, given ?? "")) throw s3Error("SignatureDoesNotMatch", "the signature of a chunk does not fit");
    previous = expected;
  };
  const reader = byteReader(source);
  let before = smallestChunk;
  for (;;) {
    const [, hex = "", signature] = /^([0-9a-fA-F]{1,8})(?:;chunk-signature=([0-9a-f]{64}))?$/.exec(await reader.line()) ?? [];
    if (hex === "") throw endedEarly("the aws-chunked framing is malformed");
    const size = Number.parseInt(hex, 16);
    if (size === 0) {
      if (signs) check("PAYLOAD", emptyHash, signature);
      break;
    }
    if (before < smallestChunk)
      throw s3Error("InvalidChunkSizeError", `Only the last chunk is allowed to have a size less than ${smallestChunk} bytes`);
    before = size;
    const digest = signs ? createHash("sha256") : undefined;
    for await (const piece of reader.take(size)) {
      digest?.update(piece);
      yield piece;
    }
    // The bytes are handed on before their signature is known; the object is committed only after all were right.
    if (digest !== undefined) check("PAYLOAD", digest.digest("hex"), signature);
    if ((await reader.line()) !== "") throw endedEarly("the aws-chunked framing is malformed");
  }
  const lines: string[] = [];
  let trailerSignature: string | undefined;
  for (let line = await reader.line(); line !== ""; line = await reader.line()) {
    const at = line.indexOf(":");
    const name = line.slice(0, at).trim().toLowerCase();
    const value = line.slice(at + 1).trim();
    if (at < 1 || lines.length > 16) throw s3Error("MalformedTrailerError", "the trailer is malformed");
    if (name === "x-amz-trailer-signature") {
      trailerSignature = value;
      continue;
    }
    lines.push(`${name}:${value}\n`);
    trailers[name] = value;
    if (!announcedTrailers(headers).includes(name))
      throw s3Error("MalformedTrailerError", `the trailer ${name} was not announced`);
  }
  if (form === "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER" && trailerSignature === undefined)
    throw endedEarly("the signature of the trailer is missing");
  if (form === "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER") check("TRAILER", sha256(lines.join("")), trailerSignature);
  if (!(await reader.ended())) throw endedEarly("bytes come after the last chunk");
  for (const name of announcedTrailers(headers)) {
    if (trailers[name] !== undefined) continue;
    // A signed trailer is all that was sent.
    if (trailerSignature !== undefined) throw s3Error("MalformedTrailerError", `the announced trailer ${name} is missing`);
    throw endedEarly(`the announced trailer ${name} is missing`);
  }
}

function endedEarly(reason: string) {
  return s3Error("IncompleteBody", reason, { wire: "The request body terminated unexpectedly" });
}

interface ByteReader {
  /** Up to CRLF, without it; `""` also at the end of the stream. */
  line(): Promise<string>;
  take(count: number): AsyncGenerator<Uint8Array>;
  /** True when nothing is left. */
  ended(): Promise<boolean>;
}

function byteReader(source: AsyncIterable<Uint8Array>): ByteReader {
  const iterator = source[Symbol.asyncIterator]();
  let held: Uint8Array = new Uint8Array(0);
  const more = async (): Promise<boolean> => {
    const next = await iterator.next();
    if (next.done === true) return false;
    held = held.length === 0 ? next.value : Buffer.concat([held, next.value]);
    return true;
  };
  return {
    async line() {
      for (;;) {
        const at = Buffer.from(held.buffer, held.byteOffset, held.length).indexOf("\r\n");
        if (at >= 0) {
          const text = Buffer.from(held.subarray(0, at)).toString("latin1");
          held = held.subarray(at + 2);
          return text;
        }
        if (held.length > maxLine) throw endedEarly("a line of the framing is too long");
        if (!(await more())) {
          if (held.length > 0) throw endedEarly("the body ends within a line");
          return "";
        }
      }
    },
    async ended() {
      while (held.length === 0) if (!(await more())) return true;
      return false;
    },
    async *take(count) {
      let left = count;
      while (left > 0) {
        if (held.length === 0 && !(await more())) throw endedEarly("the body ends within a chunk");
        const piece = held.subarray(0, left);
        held = held.subarray(piece.length);
        left -= piece.length;
        yield piece;
      }
    },
  };
}
