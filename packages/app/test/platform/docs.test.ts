import { dispatcher, docsContract, documentContract, endpoints, openapi, type WireResponse } from "@seneschal/contract";
import { sampleContract, sampleErrors, unwatched } from "@seneschal/contract/testing";
import { describe, expect, test } from "vitest";
import { documentHandlers } from "../../src/platform/docs/document-handlers.ts";
import { docsHandlers } from "../../src/platform/index.ts";

const hooks = { ...unwatched, errors: sampleErrors, now: () => 0, requestId: () => "r" };
const info = { title: "T", version: "1", errors: sampleErrors };
const dispatch = dispatcher(
  [
    ...endpoints(docsContract, docsHandlers(), undefined, hooks),
    ...endpoints(documentContract, documentHandlers(sampleContract, info), undefined, hooks),
  ],
  hooks,
);
const get = (target: string, headers = {}) =>
  dispatch({ method: "GET", target, headers, body: new Uint8Array(), remoteAddress: "::1" });
const text = (response: WireResponse) => Buffer.from(response.body as Uint8Array).toString();

describe.each(["/docs", "/redoc"])("%s", (path) => {
  test("has no inline script and names nothing outside of this server", async () => {
    const page = await get(path);
    const html = text(page);
    expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(page.headers["content-security-policy"]).toMatch(/script-src 'self';/);
    expect(html).not.toMatch(/https?:\/\//);
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)[^>]*>/);
  });

  test("every file it names is there, cacheable for ever, compressed on request", async () => {
    const files = [...text(await get(path)).matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => `/${match[1]}`);
    expect(files.length).toBeGreaterThan(2);
    for (const file of files) {
      const plain = await get(file);
      const packed = await get(file, { "accept-encoding": "br, gzip" });
      expect([plain.status, packed.status], file).toEqual([200, 200]);
      expect(plain.headers["cache-control"]).toContain("immutable");
      expect(packed.headers["content-encoding"]).toBe("br");
      const again = await get(file, { "if-none-match": plain.headers["etag"] });
      expect(again.status).toBe(304);
    }
  });

  test("nothing else of the disk is served", async () => {
    for (const file of ["package.json", "..%2Fpackage.json", "swagger-ui-bundle.js", "%2Fetc%2Fpasswd"]) {
      expect((await get(`${path}/${file}`)).status).toBe(404);
    }
  });
});

test("the document is served with an entity tag", async () => {
  const response = await get("/openapi.json");
  const document = openapi(sampleContract, { ...info, servers: ["/"] });
  expect(JSON.parse(text(response))).toEqual(JSON.parse(JSON.stringify(document)));
  expect((await get("/openapi.json", { "if-none-match": response.headers["etag"] })).status).toBe(304);
});
