import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { bodyBounds, DEFAULT_BODY_LIMIT, DEFAULT_VALUES, MOST_BYTES, MOST_VALUES } from "../src/body-bounds.ts";
import { decodeBody } from "../src/decode-body.ts";
import { decodeElements } from "../src/decode-elements.ts";
import { decodeJson } from "../src/decode-json.ts";
import { gatewayContract as gateway, gatewayErrors } from "../src/gateway/index.ts";
import { governanceContract as governance, governanceErrors } from "../src/governance/index.ts";
import { type Contract, contract, type ErrorTable, openapi, type Route } from "../src/index.ts";
import { schedulerContract as scheduler, schedulerErrors } from "../src/scheduler/index.ts";
import { storageContract as storage, storageHttpErrors } from "../src/storage/index.ts";

const services: readonly (readonly [string, Contract, ErrorTable])[] = [
  ["gateway", gateway, gatewayErrors],
  ["governance", governance, governanceErrors],
  ["scheduler", scheduler, schedulerErrors],
  ["storage", storage, storageHttpErrors],
];
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const wire = (text: string) => ({
  method: "POST",
  path: "/",
  query: {},
  params: {},
  basePath: "",
  remoteAddress: "::1",
  headers: { "content-type": "application/json" },
  body: utf8(text),
});
/** What the work throws, with what it says about itself. */
async function refusal(work: () => unknown): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    const { code, details } = error as { code: string; details: unknown };
    return { code, details };
  }
  return "accepted";
}

describe.each(services)("bodies of %s", (_, routes, errors) => {
  const taking = Object.entries(routes).filter(([, { body, consumes }]) => body !== undefined || consumes !== undefined);

  test("every route reads a bounded number of bytes and values at once", () => {
    for (const [id, route] of taking) {
      const { bytes, values } = bodyBounds(route);
      expect([bytes <= MOST_BYTES, values <= MOST_VALUES], id).toEqual([true, true]);
    }
  });

  test("what is beyond its route's bytes or values is refused with the bound, before it is parsed", async () => {
    const parse = vi.spyOn(JSON, "parse");
    try {
      for (const [id, route] of taking.filter(([, { body }]) => body !== undefined)) {
        const { bytes, values } = bodyBounds(route);
        const element = `[${"1,".repeat(values)}1]`;
        const many = route.elements === undefined ? element : `[${element}]`;
        const field = route.elements === undefined ? "body" : "body[0]";
        parse.mockClear();
        const tooMany =
          bytes > many.length ? { field, limit: values, unit: "values" } : { field: "body", limit: bytes, unit: "bytes" };
        expect(await refusal(() => decodeBody(route, wire(many))), id).toEqual({ code: "payload_too_large", details: tooMany });
        expect(await refusal(() => decodeBody(route, wire(" ".repeat(bytes + 1)))), id).toEqual({
          code: "payload_too_large",
          details: { field: "body", limit: bytes, unit: "bytes" },
        });
        expect(parse, id).not.toHaveBeenCalled();
      }
    } finally {
      parse.mockRestore();
    }
  });

  test("the OpenAPI document says the bounds of every body", () => {
    const document = openapi(routes, { title: "", version: "", errors }) as {
      paths: Record<string, Record<string, { requestBody?: { description?: string } }>>;
    };
    for (const [id, route] of taking) {
      const path = route.path.replace(/:([a-z0-9_]+)/g, "{$1}");
      const said = document.paths[path]?.[route.method.toLowerCase()]?.requestBody?.description;
      expect(said, id).toContain(`${bodyBounds(route).bytes} bytes`);
      if (route.body !== undefined) expect(said, id).toContain(`${bodyBounds(route).values} separators`);
    }
  });
});

const taker: Route = {
  method: "POST",
  path: "/many",
  summary: "",
  tag: "",
  auth: "public",
  status: 204,
  body: z.array(z.unknown()),
};

test("a contract with a route that reads more than that at once is refused", () => {
  expect(bodyBounds(taker)).toEqual({ bytes: DEFAULT_BODY_LIMIT, values: DEFAULT_VALUES });
  for (const more of [
    { bodyLimit: MOST_BYTES + 1 },
    { values: MOST_VALUES + 1 },
    { elements: { most: 2, bytes: 2 }, body: z.strictObject({}) },
  ])
    expect(() => contract({ taker: { ...taker, ...more } })).toThrow(TypeError);
});

describe("an array that is read element by element", () => {
  const bounds = { most: 100, bytes: 60_000, values: 1000 };
  const piece = fc.constantFrom(
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    '"',
    "\\",
    "a",
    "1",
    " ",
    "\n",
    '"a":',
    "null",
    "é",
    "\\u0000",
    "[1,2]",
  );
  const texts = fc.oneof(
    fc.array(piece, { maxLength: 12 }).map((pieces) => `[${pieces.join("")}]`),
    fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join("")),
    fc.json({ maxDepth: 4 }),
    fc.array(fc.json({ maxDepth: 3 }), { maxLength: 5 }).map((items) => ` [ ${items.join(" , ")} ]\t`),
  );

  test("is taken or refused, and has the value, as when it is read in one go", async () => {
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const whole = await refusal(() => decodeJson(utf8(text)));
        const inParts = await refusal(() => decodeElements(utf8(text), bounds));
        expect(inParts === "accepted").toBe(whole === "accepted");
        if (whole === "accepted") expect(await decodeElements(utf8(text), bounds)).toEqual(decodeJson(utf8(text)));
      }),
    );
  });

  test("is as deep as another body, names the element that is wrong, and has a bound on elements and on each", async () => {
    const deep = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;
    expect(await refusal(() => decodeElements(utf8(deep(64)), bounds))).toBe("accepted");
    expect(await refusal(() => decodeElements(utf8(deep(65)), bounds))).toMatchObject({ code: "invalid_json" });
    expect(await refusal(() => decodeElements(utf8('[{},{"a":1,"a":2}]'), bounds))).toMatchObject({
      details: { issues: [{ path: "body[1].a", message: "the field is there twice" }] },
    });
    expect(await refusal(() => decodeElements(utf8(`[${"1,".repeat(100)}1]`), bounds))).toMatchObject({
      code: "validation_failed",
      details: { issues: [{ path: "body", message: "more than 100 elements" }] },
    });
    expect(await refusal(() => decodeElements(utf8(`[1,"${"x".repeat(60_000)}"]`), bounds))).toEqual({
      code: "payload_too_large",
      details: { field: "body[1]", limit: 60_000, unit: "bytes" },
    });
  });

  test("lets others be served in between, and nothing behind a bad element is read", async () => {
    const long = JSON.stringify({ text: "x".repeat(50_000) });
    const route: Route = { ...taker, elements: { most: 100, bytes: 60_000 }, bodyLimit: MOST_BYTES };
    let pauses = 0;
    const pause = async (): Promise<void> => {
      pauses++;
    };
    await decodeBody(route, wire(`[${Array.from({ length: 40 }, () => long)}]`), pause);
    expect(pauses).toBeGreaterThan(15);
    pauses = 0;
    expect(
      await refusal(() => decodeBody(route, wire(`[nothing,${Array.from({ length: 40 }, () => long)}]`), pause)),
    ).toMatchObject({
      code: "invalid_json",
    });
    expect(pauses).toBe(0);
  });
});

test("the start of a custody ceremony has room for 255 seats and the commitments of their key", async () => {
  const key = Buffer.alloc(32).toString("base64");
  const signature = Buffer.alloc(64).toString("base64");
  const card = {
    v: 1,
    org_id: "acme",
    custodian_id: "ada",
    signing_key: key,
    agreement_key: key,
    proofs: { signing: signature, agreement: signature },
  };
  const act = {
    type: "start",
    kind: "refresh",
    threshold: 255,
    expires_at: 1,
    seats: Array(255).fill(card),
    witness: card,
    starter: card,
    key: {
      id: "0192f0c1-2d3e-7a4b-8c5d-6e7f80910a1b",
      public_key: key,
      commitments: Array(255).fill(key),
      verifying_shares: Array(255).fill(key),
    },
    deals: Array(255).fill(255),
  };
  const entry = { v: 1, ceremony: "all", seq: 0, prev: key, at: 1, author: "ada", act, signature };
  expect(await refusal(() => decodeBody(gateway.startCustodyCeremony, wire(JSON.stringify({ entry }))))).toBe("accepted");
});
