import type { Federation } from "@seneschal/core/keys";
import { isCoded, type JsonObject } from "@seneschal/kernel";
import type { Call } from "../../ground/index.ts";
import type { PartnerServices } from "../services.ts";
import { federationOfCaller } from "./find.ts";
import type { RefusedOf } from "./refusals.ts";

/** Does what a partner's gateway asks for; a refusal is told, and thrown on. */
export async function judged<R>(
  services: PartnerServices,
  call: Call,
  of: RefusedOf,
  facts: JsonObject,
  work: (call: Call, federation: Federation) => Promise<R>,
): Promise<R> {
  const federation = await federationOfCaller(services.read, call.principal);
  try {
    return await work(call, federation);
  } catch (error) {
    if (isCoded(error)) await services.refusals.note(services, federation, of, error.code, { ...facts, ...named(error.details) });
    throw error;
  }
}

/** Of the details of a refusal, those that say what of ours or theirs it is about. */
function named(details: Readonly<Record<string, unknown>>): JsonObject {
  const names = ["field", "policy_id", "budget", "limit", "version", "revision"];
  return Object.fromEntries(names.flatMap((name) => (isScalar(details[name]) ? [[name, details[name]]] : [])));
}

function isScalar(value: unknown): value is string | number {
  return typeof value === "string" || typeof value === "number";
}
