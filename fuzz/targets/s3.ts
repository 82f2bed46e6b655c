import { parseRange } from "../../packages/server-s3/src/range.ts";
import { requestBody } from "../../packages/server-s3/src/request-body.ts";
import { signatureClaim } from "../../packages/server-s3/src/signature-claim.ts";
import { splitTarget, type Verified, verifySignature } from "../../packages/server-s3/src/sigv4.ts";
import { escapeXml, parseXml, type XmlElement } from "../../packages/server-s3/src/xml.ts";
import { type FuzzTarget, law, orRefused, orRefusedLater, textOf } from "../target.ts";

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const proof: Verified = {
  accessKey: "AKIDEXAMPLE",
  signingKey: new Uint8Array(32).fill(1),
  tenant: "t",
  access: undefined,
  scope: "20260102/us-east-1/s3/aws4_request",
  amzDate: "20260102T030405Z",
  signature: "0".repeat(64),
  payloadHash: "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
};

async function* cut(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** What an aws-chunked body decodes to, or that it is refused, however it is cut. */
async function decoded(bytes: Uint8Array, payloadHash: string, size: number): Promise<string> {
  const out = await orRefusedLater(async () => {
    const headers = { "x-amz-trailer": "x-amz-checksum-crc32" };
    const pieces: Uint8Array[] = [];
    for await (const piece of requestBody(cut(bytes, size), headers, { ...proof, payloadHash }).bytes) pieces.push(piece);
    return Buffer.concat(pieces).toString("hex");
  });
  return out ?? "refused";
}

function texts(element: XmlElement): readonly string[] {
  return [element.text, ...element.children.flatMap(texts)];
}

/** Signatures in headers and queries, targets, ranges, XML bodies and chunked payloads of the S3 gateway. */
export const target: FuzzTarget = {
  words: [
    "AWS4-HMAC-SHA256 Credential=",
    "/20260102/us-east-1/s3/aws4_request",
    ", SignedHeaders=host;x-amz-date",
    ", Signature=",
    "X-Amz-Algorithm=AWS4-HMAC-SHA256&",
    "bytes=",
    "<Delete>",
    "</Delete>",
    "<![CDATA[",
    "<!DOCTYPE a>",
    "&amp;",
    "&#x0;",
    "%00",
    "%E0%A4%A",
    "\r\n",
    ";chunk-signature=",
    "0\r\n",
    "x-amz-checksum-crc32:",
  ],
  async run(bytes) {
    const text = textOf(bytes);
    const [line = "", ...rest] = text.split("\n");
    const target = orRefused(() => splitTarget(line));
    const query = target?.query ?? [];
    const headers = {
      host: "h",
      authorization: rest[0] ?? "",
      "x-amz-date": rest[1] ?? "20260102T030405Z",
      "x-amz-content-sha256": rest[2] ?? "UNSIGNED-PAYLOAD",
    };
    orRefused(() => signatureClaim(headers, query, NOW));
    const credential = { tenant: "t", secretKey: "secret", access: undefined };
    const verified = await orRefusedLater(() =>
      verifySignature({ method: "GET", target: line, headers }, async () => credential, NOW),
    );
    law(verified === undefined, "nobody signs by chance");
    const range = orRefused(() => parseRange(line, 1000));
    if (range !== undefined) law(range.start >= 0 && range.start <= range.end && range.end <= 1000, "a range lies in its object");
    const xml = orRefused(() => parseXml(text));
    if (xml !== undefined)
      law(
        texts(xml).every((found) => !found.includes("\0")),
        "XML holds no zero character",
      );
    law(!/[<&](?!amp;|lt;|gt;|quot;|apos;|#)/.test(escapeXml(text)), "what is escaped opens no element");
    for (const payloadHash of ["STREAMING-UNSIGNED-PAYLOAD-TRAILER", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"]) {
      const whole = await decoded(bytes, payloadHash, 1 << 20);
      for (const size of [1, 7]) law((await decoded(bytes, payloadHash, size)) === whole, "a body is the same however it is cut");
    }
  },
};
