import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { openAssets } from "../../src/assets/index.ts";

const text = "console.log(1);".repeat(100);
const open = () => openAssets([{ name: "app.js", mediaType: "text/javascript", text }]);

test("a name holds the content's hash: the same content, the same name", async () => {
  const [one, two] = [await open(), await open()];
  const other = await openAssets([{ name: "app.js", mediaType: "text/javascript", text: "" }]);
  expect(one.hashedName("app.js")).toMatch(/^app\.[0-9a-f]{16}\.js$/);
  expect(two.hashedName("app.js")).toBe(one.hashedName("app.js"));
  expect(other.hashedName("app.js")).not.toBe(one.hashedName("app.js"));
  expect(() => one.hashedName("other.js")).toThrow(TypeError);
});

test.each([
  [undefined, undefined, (b: Uint8Array) => b],
  ["gzip, deflate", "gzip", gunzipSync],
  ["gzip;q=0.5, BR", "br", brotliDecompressSync],
  ["br;q=0, gzip;q=0.000", undefined, (b: Uint8Array) => b],
])("accept-encoding %s is answered in %s", async (accepts, encoding, decode) => {
  const assets = await open();
  const reply = assets.get(assets.hashedName("app.js"), accepts);
  expect(reply?.headers["content-encoding"]).toBe(encoding);
  expect(Buffer.from(decode(reply?.body ?? new Uint8Array())).toString()).toBe(text);
  expect(reply?.headers["vary"]).toBe("accept-encoding");
});

test("encodings have different entity tags, and only known names are found", async () => {
  const assets = await open();
  const name = assets.hashedName("app.js");
  expect(assets.get(name, "br")?.headers["etag"]).not.toBe(assets.get(name, "gzip")?.headers["etag"]);
  for (const odd of ["app.js", "../package.json", "", "__proto__"]) expect(assets.get(odd, "br")).toBeUndefined();
});
