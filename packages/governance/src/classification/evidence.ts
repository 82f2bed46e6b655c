import { recognise } from "./recognise.ts";
import type { Finding } from "./recogniser.ts";
import { DEFAULT_RECOGNISERS } from "./recognisers/index.ts";

/** How an entity became known; each kind has its own reliability. */
export type EvidenceKind =
  | "checksum"
  | "context"
  | "pattern"
  | "name"
  | "request"
  | "catalogue"
  | "object"
  /** Of a statement that was read but for some names. */
  | "unexplained"
  /** Of a statement that was not read. */
  | "unread";

/** One reason for a tier. */
export interface Evidence {
  readonly entity: string;
  readonly tier: string;
  readonly tags: readonly string[];
  readonly kind: EvidenceKind;
  /** What a person reads: rule and place, never a value. */
  readonly reason: string;
  readonly finding?: Finding;
  /** JSON path or column of the place. */
  readonly path?: string;
  readonly column?: string;
}

/** That business data is meant, of whatever kind: it says nothing about persons. */
export function businessEvidence(tier: string, reason: string): Evidence {
  return { entity: "BUSINESS_OBJECT", tier, tags: [], kind: "object", reason };
}

const WITHHELD = "(name withheld)";

/** A name that may be repeated to people: an identifier, not a value in disguise. */
export function safeName(text: string): string {
  const short = text.length > 64 ? `${text.slice(0, 61)}...` : text;
  if (!/^[\p{L}_$][\p{L}\p{N}_$ .-]*$/u.test(short) || (short.match(/\d/g)?.length ?? 0) > 5) return WITHHELD;
  if ((short.length >= 16 || /\d/.test(short)) && recognise(text, DEFAULT_RECOGNISERS).length > 0) return WITHHELD;
  return short;
}
