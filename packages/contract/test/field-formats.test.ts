/** How bytes are written as text is said once, by the schema, and what a page says of a field is that. */
import { readFile } from "node:fs/promises";
import { gatewayContract } from "@seneschal/contract/gateway";
import { expect, test } from "vitest";
import * as z from "zod";
import { base64Text } from "../src/base64-text.ts";

interface Schema {
  readonly type?: string;
  readonly pattern?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly $defs?: Readonly<Record<string, Schema>>;
}
type Format = "hex" | "base64" | "text";

/** Names that mean bytes wherever they stand, and so a way to write them. */
const BYTES =
  /(_hash|_sha256|^digest|fingerprint|root|^proof|signature|public_key|_agreement_key|salt|^head|nonce|text|_data|checksum|share)$/;

const fields: { readonly at: string; readonly name: string; readonly format: Format | undefined }[] = [];

function formatOf({ pattern, description = "" }: Schema): Format | undefined {
  if (pattern === base64Text) return "base64";
  if (pattern?.includes("[0-9a-f]{")) return "hex";
  return (
    (/\b(hex|base64)\b/.exec(description)?.[0] as Format | undefined) ?? (/text as it is/.test(description) ? "text" : undefined)
  );
}

function walk(at: string, schema: Schema, name = "", said?: string): void {
  const here = { ...schema, description: schema.description ?? said };
  if (schema.type === "string" && name !== "") fields.push({ at, name, format: formatOf(here as Schema) });
  for (const [key, value] of Object.entries(schema.properties ?? {})) walk(at, value, key);
  for (const inner of [schema.items, ...(schema.anyOf ?? [])]) if (inner !== undefined) walk(at, inner, name, here.description);
  for (const part of Object.values(schema.$defs ?? {})) walk(at, part);
}

for (const [id, { body, reply }] of Object.entries(gatewayContract) as [string, { body?: z.ZodType; reply?: z.ZodType }][]) {
  if (body !== undefined) walk(`${id} body`, z.toJSONSchema(body, { io: "input", unrepresentable: "any" }) as Schema);
  if (reply !== undefined) walk(`${id} reply`, z.toJSONSchema(reply, { io: "output", unrepresentable: "any" }) as Schema);
}

test("every field of the gateway that stands for bytes says how they are written", () => {
  const open = fields.filter(({ name, format }) => BYTES.test(name) && format === undefined);
  expect(open.map(({ at, name }) => `${at}: ${name}`)).toEqual([]);
});

test.each(["gateway", "custody", "signing"])(
  "what docs/%s.md says of a field's hex or base64 is what the contract says",
  async (page) => {
    const known = new Map<string, Set<Format>>();
    for (const { name, format } of fields)
      if (format === "hex" || format === "base64") known.set(name, (known.get(name) ?? new Set()).add(format));
    const text = await readFile(new URL(`../../../docs/${page}.md`, import.meta.url), "utf8");
    // Code is no sentence, and test vectors write for people what travels as base64.
    const [interfaces = ""] = text.split("## Test vectors");
    const sentences = interfaces
      .replaceAll(/^```[\s\S]*?^```$/gm, "")
      .replaceAll(/\n(?! *[-|])/g, " ")
      .split(/[.:;|]\s|\n/);
    let found = 0;
    const wrong: string[] = [];
    for (const sentence of sentences) {
      // Of each way that is named, the fields before it: `a`, `b` (hex), `c` (base64).
      for (const [, before = "", format] of sentence.matchAll(/(.*?)\b(hex|base64)\b/g)) {
        for (const [, name = ""] of before.matchAll(/`([a-z0-9_]+)`/g)) {
          const formats = known.get(name);
          if (formats === undefined) continue;
          found++;
          if (!formats.has(format as Format)) wrong.push(`${name} is ${[...formats]}, not ${format}: ${sentence}`);
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(found).toBeGreaterThan(0);
  },
);
