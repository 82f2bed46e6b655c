import { createHash } from "node:crypto";
import {
  checkUpload,
  etagOfParts,
  joinedObject,
  objectError,
  partLimits,
  partsToJoin,
  type Upload,
  type UploadPart,
} from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import fc from "fast-check";
import { expect, test } from "vitest";
import { uploadParts } from "../../src/arbitraries/index.ts";

const upload: Upload = {
  bucket: "docs",
  key: "a",
  tenant: "acme",
  content_type: "text/plain",
  headers: { "cache-control": "no-store" },
  meta: { by: "me" },
  started_at: 1,
  checksum: { algorithm: "CRC32", type: "COMPOSITE" },
  replica: "0".repeat(32),
  legal_hold: true,
};
const codeOf = (work: () => unknown): string => {
  try {
    work();
    return "";
  } catch (error) {
    if (isCoded(error)) return error.code;
    throw error;
  }
};
const named = fc.array(uploadParts, { maxLength: 5 });

test("whatever parts are sent and sent again: a completion joins those that it names as they are now, or none and says why", () => {
  fc.assert(
    fc.property(fc.array(uploadParts, { maxLength: 12 }), named, (sent, asked) => {
      const stored = new Map<number, UploadPart>();
      for (const part of sent) stored.set(part.number, part);
      const found = asked.map(({ number }) => stored.get(number));
      let parts: readonly UploadPart[] = [];
      const code = codeOf(() => {
        parts = partsToJoin(asked, found);
      });
      const ascending = asked.every(({ number }, i) => i === 0 || number > (asked[i - 1]?.number ?? 0));
      const first = asked.find(({ etag }, i) => {
        const part = found[i];
        return part?.etag !== etag || (part.size < partLimits.minBytes && i < asked.length - 1);
      });
      const reason = first && (stored.get(first.number)?.etag === first.etag ? "EntityTooSmall" : "InvalidPart");
      expect(code).toBe(asked.length === 0 ? "InvalidPart" : !ascending ? "InvalidPartOrder" : (reason ?? ""));
      if (code !== "") return;
      expect(parts).toEqual(asked.map(({ number }) => stored.get(number)));
      const made = joinedObject(upload, parts, { expires: "0" });
      expect(made.size).toBe(parts.reduce((sum, { size }) => sum + size, 0));
      expect(made.headers).toEqual({ "cache-control": "no-store", expires: "0" });
      expect(made.legal_hold).toBe(true);
      // What was of the upload alone is nothing of the object's.
      for (const of of ["started_at", "checksum", "replica"]) expect(made).not.toHaveProperty(of);
    }),
  );
});

test("the ETag of an object in parts is the MD5 of the parts' MD5s, with their number; what is no MD5 has none", () => {
  const md5s = fc.array(
    fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes).toString("hex")),
    { minLength: 1 },
  );
  fc.assert(
    fc.property(md5s, fc.string(), (etags, other) => {
      const digest = createHash("md5")
        .update(Buffer.from(etags.join(""), "hex"))
        .digest("hex");
      const parts = etags.map((etag) => ({ etag }));
      expect(etagOfParts(parts)).toBe(`${digest}-${etags.length}`);
      fc.pre(!/^[0-9a-f]{32}$/.test(other));
      expect(etagOfParts([...parts, { etag: other }])).toBeUndefined();
    }),
  );
});

test("an upload is met by its own bucket and key alone", () => {
  const word = fc.constantFrom("docs", "a", "b");
  fc.assert(
    fc.property(fc.boolean(), word, word, (there, bucket, key) => {
      const target = { tenant: "acme", bucket, key, upload: "u" };
      const fits = there && bucket === upload.bucket && key === upload.key;
      expect(codeOf(() => checkUpload(there ? upload : undefined, target))).toBe(
        fits ? "" : objectError("NoSuchUpload", "").code,
      );
    }),
  );
});
