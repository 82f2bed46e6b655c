import { base64, utf8 } from "@seneschal/crypto";
import { bodyHash, operationBytes, signingBytes } from "@seneschal/crypto/signing";
import { expect, test } from "vitest";
import { signedBySession } from "../src/custody/signed-by-session.ts";

const body = { reason: "end of project", revision: 3 };
const operation = {
  ...({ v: 1, op: "workspace.delete", org_id: "acme", audience: "gw-1", resource_type: "workspace", resource_id: "w1" } as const),
  body_sha256: bodyHash(body),
  crk_id: "crk-1",
  crk_epoch: 1,
  nonce: "5b8efff798038103d269b633813fc60c",
  iat: 1_700_000_000,
  exp: 1_700_000_600,
};
const session = (message: Uint8Array, signs: Parameters<typeof signedBySession>[0]["signs"]) =>
  signedBySession({ round: { id: "r", set_id: "s", epoch: 1, message: base64(message) }, signs });
const shown = { purpose: "operation", payload: operation, body };
const refused = expect.objectContaining({ code: "file_invalid" });

test("an operation is shown whole, with its times and the fields of its body", () => {
  const { lines, signs } = session(operationBytes(operation), shown);
  expect(signs).toEqual(shown);
  const text = lines.join("\n");
  for (const part of ["workspace.delete", "w1", "gw-1", "acme", "crk-1", "2023-11-14T22:23:20.000Z", "end of project"])
    expect(text).toContain(part);
  const never = { ...operation, exp: Number.MAX_SAFE_INTEGER };
  expect(session(operationBytes(never), { ...shown, payload: never }).lines.join()).toContain("exp: 9007199254740991");
  expect(session(operationBytes(operation), { ...shown, body: null }).lines.join()).toContain("its fields: not shown");
});

test("bytes that are no document are shown as they are, and nothing in them acts on the terminal", () => {
  const { signs, lines } = session(utf8("release 7\u001b[2J"), null);
  expect(signs).toBeNull();
  expect(lines.join()).toContain('"release 7\\u001b[2J"');
  const sly = signingBytes("backup", { name: "a\u202eb\u001b[2J" });
  const text = session(sly, { purpose: "backup", payload: { name: "a\u202eb\u001b[2J" }, body: null }).lines.join();
  for (const unseen of ["\u001b", "\u202e"]) expect(text).not.toContain(unseen);
  expect(text).toContain("\\u{202e}");
});

test("nothing is signed where the gateway shows something else than the bytes are, or the bytes are the canonical form of nothing", () => {
  const bytes = operationBytes(operation);
  for (const told of [
    null,
    { ...shown, purpose: "backup" },
    { ...shown, payload: { ...operation, resource_id: "w2" } },
    { ...shown, payload: { ...operation, more: 1 } },
    { ...shown, body: { ...body, revision: 4 } },
  ]) {
    expect(() => session(bytes, told), JSON.stringify(told)).toThrow(refused);
  }
  expect(() => session(utf8("release 7"), shown)).toThrow(refused);
  const spaced = utf8(`${new TextDecoder().decode(bytes)} `);
  for (const told of [null, shown]) expect(() => session(spaced, told)).toThrow(refused);
});
