import { expect, test } from "vitest";
import * as z from "zod";
import { gatewayContract } from "../src/gateway/index.ts";
import type { Contract } from "../src/index.ts";

/** What proves the caller's right to make it, and is no part of what is made. */
const PROOFS = new Set(["signature", "signature_params", "crk_signature"]);

/** What is made of other fields than those that were given, and why. */
const OTHERWISE: Readonly<Record<string, readonly string[]>> = {
  // As `message`, in the form that is signed, and as `expires_at`.
  createSigningRequest: ["body", "ttl_seconds"],
  // As `message`.
  startSigningSession: ["data", "body"],
  // The first of the entries of the transcript.
  startCustodyCeremony: ["entry"],
  // The partner's, held by it; the certificate that comes of the request is in the answer.
  establishFederation: ["partner_cert", "partner_csr"],
};

/** Bundles and messages of other instances: they are taken in whole. */
const TAKEN_IN = new Set(["importWorkspace", "deliverMessage"]);

test("what is given when something is made stands in the answer: a field that only the contract knows of is none", () => {
  const made = Object.entries(gatewayContract as Contract).flatMap(([id, { status, body, reply }]) =>
    status === 201 && body !== undefined && !TAKEN_IN.has(id) ? [{ id, given: fields(body), shown: fields(reply) }] : [],
  );
  expect(made.length).toBeGreaterThan(20);
  for (const { id, given, shown } of made) {
    const unseen = given.filter((field) => !shown.includes(field) && !PROOFS.has(field));
    expect(unseen, id).toEqual(OTHERWISE[id] ?? []);
  }
});

function fields(schema: unknown): readonly string[] {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  if (schema instanceof z.ZodPipe) return fields(schema.in);
  const inner = (schema as { readonly def?: { readonly innerType?: unknown } } | undefined)?.def?.innerType;
  return inner === undefined ? [] : fields(inner);
}
