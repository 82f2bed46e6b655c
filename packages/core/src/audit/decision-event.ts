import type { Json, JsonObject } from "@seneschal/kernel";
import { checkArgument } from "@seneschal/kernel";
import type { PolicyAnswer } from "@seneschal/kernel/ports";

/** One decision in the form of OPA's decision log. */
export interface DecisionEvent {
  readonly decision_id: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The policy that decided: revision by bundle. */
  readonly bundles: Readonly<Record<string, { readonly revision: string }>>;
  /** The document that was asked for, `governance/decision`. */
  readonly path: string;
  readonly input?: Json;
  /** Absent where the document is undefined, and where there was an error. */
  readonly result?: Json;
  readonly error?: { readonly code: string };
  readonly requested_by: string;
  /** RFC 3339, UTC. */
  readonly timestamp: string;
  /** Nanoseconds, as OPA names them. */
  readonly metrics: Readonly<Record<string, number>>;
  /** Paths that were taken out. */
  readonly erased?: readonly string[];
  /** Paths that were given another value. */
  readonly masked?: readonly string[];
  /** Why everything was taken out: the code of the mask that failed, `mask_invalid` for one that is none. */
  readonly mask_error?: { readonly code: string };
}

/** The documents that say what is not logged of a decision, and which decisions are not. */
export const [MASK_PATH, DROP_PATH] = [
  ["data", "system", "log", "mask"],
  ["data", "system", "log", "drop"],
] as const;

/** Whether a decision is not to be logged: `data.system.log.drop` is `true`, nothing else. */
export function isDropped(drop: PolicyAnswer): boolean {
  checkArgument("drop", drop, "object");
  return drop.kind === "defined" && drop.value === true;
}

/**
 * The event without what the policy masks: `data.system.log.mask`, a set of JSON pointers below `/input` and `/result` that are taken out, or of
 * `{op: "remove" | "upsert", path, value}`. A path that is not there is passed over. A mask that fails or is none takes the whole input and result out and says so (`mask_error`),
 * and so does a path that is no pointer into this event (RFC 6901): below a text or a number, at no index of a list, or an empty name or `*` that no member has.
 *
 * @example
 * ```ts
 * import { maskDecision } from "@seneschal/core/audit";
 * const asked = { decision_id: "d1", labels: {}, bundles: {}, path: "governance/decision", requested_by: "key", metrics: {} };
 * const event = { ...asked, timestamp: "2026-03-01T12:00:00.000Z", input: { user: { user_id: "ada", role: "dpo" } } };
 * console.log(maskDecision(event, { kind: "defined", value: ["/input/user/user_id"] }).input); // { user: { role: 'dpo' } }
 * ```
 */
export function maskDecision(event: DecisionEvent, mask: PolicyAnswer): DecisionEvent {
  checkArgument("event", event, "object");
  checkArgument("mask", mask, "object");
  if (mask.kind === "undefined") return event;
  const { input, result, ...rest } = event;
  const held = JSON.parse(
    JSON.stringify({ ...(input === undefined ? {} : { input }), ...(result === undefined ? {} : { result }) }),
  ) as Members;
  const [erased, masked]: [string[], string[]] = [[], []];
  const rules = mask.kind === "defined" ? rulesOf(mask.value) : undefined;
  const meant = rules?.every(({ parts }) => isPlace(held, parts)) === true ? rules : undefined;
  for (const { op, path, parts, value } of meant ?? EVERYTHING) {
    if (op === "remove" ? removed(held, parts) : put(held, parts, value)) {
      (op === "remove" ? erased : masked).push(path);
    }
  }
  return {
    ...rest,
    ...held,
    ...(erased.length > 0 ? { erased } : {}),
    ...(masked.length > 0 ? { masked } : {}),
    ...(meant === undefined ? { mask_error: { code: mask.kind === "error" ? mask.code : "mask_invalid" } } : {}),
  };
}

interface MaskRule {
  readonly op: "remove" | "upsert";
  readonly path: string;
  readonly parts: readonly string[];
  readonly value: Json;
}

type Members = Record<string, Json>;

const EVERYTHING = ["/input", "/result"].map((path): MaskRule => ({ op: "remove", path, parts: [path.slice(1)], value: null }));

/** Undefined for what is no mask. Values are put before paths are taken out, so that nothing comes back; each in the order of its paths. */
function rulesOf(value: Json): readonly MaskRule[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const rules: MaskRule[] = [];
  for (const item of value) {
    const rule = typeof item === "string" ? { op: "remove", path: item } : item;
    if (typeof rule !== "object" || rule === null || Array.isArray(rule)) return undefined;
    const { op, path, value: given = null, ...others } = rule as JsonObject;
    if (typeof path !== "string" || (op !== "remove" && op !== "upsert") || Object.keys(others).length > 0) return undefined;
    if (/~(?![01])/.test(path)) return undefined;
    const parts = path.split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
    if (parts[0] !== "" || (parts[1] !== "input" && parts[1] !== "result")) return undefined;
    rules.push({ op, path, parts: parts.slice(1), value: given });
  }
  const rank = ({ op }: MaskRule): number => Number(op === "remove");
  return rules.sort((a, b) => rank(a) - rank(b) || Number(a.path > b.path) - Number(a.path < b.path));
}

/** The member or element that a name stands for in a container; undefined where there is none. */
function placeIn(container: Json | undefined, name: string): string | number | undefined {
  if (Array.isArray(container))
    return /^(0|[1-9]\d{0,8})$/.test(name) && Number(name) < container.length ? Number(name) : undefined;
  return typeof container === "object" && container !== null && Object.hasOwn(container, name) ? name : undefined;
}

/** Whether a path may be meant for what stands there: what could never hide anything is a mistake of whoever wrote it. */
function isPlace(root: Members, parts: readonly string[]): boolean {
  let at: Json | undefined = root;
  for (const name of parts) {
    if (at === undefined || at === null) return true;
    if (typeof at !== "object") return false;
    if (Array.isArray(at) && !/^(-|0|[1-9]\d*)$/.test(name)) return false;
    const place = placeIn(at, name);
    if (place === undefined && (name === "" || name === "*")) return false;
    at = place === undefined ? undefined : (at as Members)[place];
  }
  return true;
}

function removed(root: Members, parts: readonly string[]): boolean {
  let at: Json | undefined = root;
  for (const name of parts.slice(0, -1)) {
    const place = placeIn(at, name);
    if (place === undefined) return false;
    at = (at as Members)[place];
  }
  const place = placeIn(at, parts.at(-1) as string);
  if (place === undefined) return false;
  // an element that went would move those behind it under paths that other rules name
  if (typeof place === "number") (at as Json[])[place] = null;
  else delete (at as Members)[place];
  return true;
}

/** Objects on the way are made where there is nothing. */
function put(root: Members, parts: readonly string[], value: Json): boolean {
  let at: Json = root;
  for (const [i, name] of parts.entries()) {
    const last = i === parts.length - 1;
    if (typeof at !== "object" || at === null) return false;
    const place = placeIn(at, name);
    if (place === undefined && Array.isArray(at)) return false;
    if (place === undefined || last) define(at as Members, place ?? name, last ? value : {});
    at = (at as Members)[place ?? name] as Json;
  }
  return true;
}

function define(container: Members, name: string | number, value: Json): void {
  Object.defineProperty(container, name, { value, enumerable: true, configurable: true, writable: true });
}
