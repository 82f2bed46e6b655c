import { Writable } from "node:stream";
import { CodedError } from "@seneschal/kernel";
import { expect, test } from "vitest";
import { openLogger, redact } from "../../src/logging/index.ts";

test.each([
  "password",
  "passphrase",
  "client_secret",
  "token",
  "access_token",
  "authorization",
  "Cookie",
  "private_key",
  "plaintext",
  "share",
  "encrypted_share",
  "seed",
  "totp",
  "key",
  "dek",
  "derived_key",
  "api_key",
  "pem",
  "signature",
])("%s is redacted at any depth", (name) => {
  expect(JSON.stringify(redact({ a: [{ [name]: "hunter2" }], [name]: { inner: "hunter2" } }))).not.toContain("hunter2");
});

test("counts and switches under such names are shown", () => {
  expect(redact({ token_count: 3, mfa_secret_set: true, share: null })).toEqual({
    token_count: 3,
    mfa_secret_set: true,
    share: null,
  });
});

test("bytes never show, errors keep code and stack but not their secrets, cycles end", () => {
  const loop: Record<string, unknown> = { bytes: new Uint8Array([1, 2]) };
  loop["self"] = loop;
  expect(JSON.stringify(redact(loop))).toContain("[bytes]");
  const shown = redact(new CodedError("bad", "no", { token: "hunter2", id: "w1" }, new Error("below"))) as Record<
    string,
    unknown
  >;
  expect(shown).toMatchObject({
    code: "bad",
    message: "no",
    details: { token: "[redacted]", id: "w1" },
    cause: { message: "below" },
  });
  expect(shown["stack"]).toBeDefined();
});

test("a line is JSON with time, level and message, redacted, with the child's fields", () => {
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk, _, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const log = openLogger({ destination }).child({ service: "gateway" });
  log.info({ authorization: "Bearer hunter2", error: new Error("x") }, "hello");
  log.debug({}, "not at this level");
  expect(lines).toHaveLength(1);
  const line = JSON.parse(lines[0] ?? "") as Record<string, unknown>;
  expect(line).toMatchObject({
    level: "info",
    service: "gateway",
    message: "hello",
    authorization: "[redacted]",
    error: { message: "x" },
  });
  expect(line["time"]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
});
