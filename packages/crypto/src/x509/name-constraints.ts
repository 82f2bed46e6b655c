import { cryptoError } from "../errors.ts";
import {
  type DerElement,
  DerReader,
  explicit,
  ia5,
  implicit,
  readChildren,
  readDer,
  readOid,
  readString,
  sequence,
  TAG,
} from "./der.ts";
import { ipText, parseIp } from "./ip-address.ts";
import type { Name } from "./name.ts";

/** One subtree of names (RFC 5280 4.2.1.10). An `ip` is `address/prefix`; a `directory` is its steps, most general first. */
export type NameSubtree =
  | { readonly kind: "dns" | "email" | "uri" | "ip"; readonly value: string }
  | { readonly kind: "directory"; readonly steps: readonly string[] }
  /** A form that is not understood: a certificate with a name of it is refused. */
  | { readonly kind: "other"; readonly tag: number };

/** Which names a CA may certify. */
export interface NameConstraints {
  readonly permitted?: readonly NameSubtree[];
  readonly excluded?: readonly NameSubtree[];
}

/** What constraints look at in a certificate. */
export interface NamedCertificate {
  readonly subject: Name;
  readonly subjectDer: Uint8Array;
  readonly issuerDer: Uint8Array;
  readonly extensions: { readonly nameConstraints?: NameConstraints; readonly generalNames?: readonly DerElement[] };
}

/** A name in a certificate, as constraints look at it. */
type ConstrainedName =
  | { readonly kind: "dns" | "email" | "uri"; readonly value: string }
  | { readonly kind: "ip"; readonly bytes: Uint8Array }
  | { readonly kind: "directory"; readonly steps: readonly string[] }
  | { readonly kind: "other"; readonly tag: number };

const TEXT_TAGS = { email: 0x81, dns: 0x82, uri: 0x86 } as const;
/** Names times subtrees: a chain that wants more comparisons is refused, not computed. */
const MAX_COMPARISONS = 100_000;

/** The extension's value. Only forms that are text can be written. Throws `x509_invalid`. */
export function encodeNameConstraints({ permitted = [], excluded = [] }: NameConstraints): Uint8Array {
  const subtrees = (list: readonly NameSubtree[]) =>
    sequence(
      ...list.map((subtree) => {
        if (subtree.kind === "directory" || subtree.kind === "other") throw invalid("this form of constraint is not written");
        if (subtree.kind === "ip") return sequence(implicit(7, addressAndMask(subtree.value)));
        return sequence(implicit(TEXT_TAGS[subtree.kind] - 0x80, ia5(subtree.value)));
      }),
    );
  // IMPLICIT tags: the content of the SEQUENCE OF under the context tag.
  const part = (tag: number, list: readonly NameSubtree[]) =>
    list.length === 0 ? [] : [explicit(tag, readDer(subtrees(list)).content)];
  return sequence(...part(0, permitted), ...part(1, excluded));
}

/** Reads the extension. Throws `x509_invalid` for one that constrains nothing, or that nobody could apply. */
export function decodeNameConstraints(value: DerElement): NameConstraints {
  const reader = new DerReader(value, TAG.sequence);
  const permitted = reader.optional(0xa0);
  const excluded = reader.optional(0xa1);
  reader.end();
  const subtrees = (list: DerElement) => {
    const found = readChildren(list).map((item) => {
      const subtree = new DerReader(item, TAG.sequence);
      const base = subtree.next();
      // RFC 5280 fixes the minimum to its default, 0, and forbids a maximum.
      subtree.end();
      return decodeSubtree(base);
    });
    if (found.length === 0) throw invalid("name constraints without a subtree");
    return found;
  };
  if (permitted === undefined && excluded === undefined) throw invalid("name constraints without a subtree");
  return {
    ...(permitted === undefined ? {} : { permitted: subtrees(permitted) }),
    ...(excluded === undefined ? {} : { excluded: subtrees(excluded) }),
  };
}

function decodeSubtree(base: DerElement): NameSubtree {
  switch (base.tag) {
    case TEXT_TAGS.dns: {
      const value = asciiOf(base).toLowerCase();
      if (value !== "" && !isDnsName(value)) throw invalid("a constraint that is no DNS name");
      return { kind: "dns", value };
    }
    case TEXT_TAGS.email: {
      const value = asciiOf(base);
      const [host = "", ...local] = value.split("@").reverse();
      if (local.length > 1 || !isDnsName(host.replace(/^\./, "").toLowerCase()))
        throw invalid("a constraint that is no mail name");
      return { kind: "email", value: [...local.reverse(), host.toLowerCase()].join("@") };
    }
    case TEXT_TAGS.uri: {
      const value = asciiOf(base).toLowerCase();
      if (!isDnsName(value.replace(/^\./, ""))) throw invalid("a constraint that is no host name");
      return { kind: "uri", value };
    }
    case 0x87: {
      const half = base.content.length / 2;
      if (half !== 4 && half !== 16) throw invalid("a constraint that is no range of addresses");
      const mask = [...base.content.subarray(half)].map((byte) => byte.toString(2).padStart(8, "0")).join("");
      if (!/^1*0*$/.test(mask)) throw invalid("a constraint whose mask has holes");
      return { kind: "ip", value: `${ipText(base.content.subarray(0, half))}/${mask.replace(/0+$/, "").length}` };
    }
    case 0xa4:
      return { kind: "directory", steps: nameSteps(readDer(base.content)) };
    default:
      return { kind: "other", tag: base.tag };
  }
}

/**
 * Whether every name of the certificates below each CA of a path (leaf first, anchor last) is one that the CA may certify.
 * Self-issued certificates below are exempt, the leaf is not (RFC 5280 6.1.3).
 */
export function namesArePermitted(path: readonly NamedCertificate[]): boolean {
  let comparisons = 0;
  const names = new Map<NamedCertificate, readonly ConstrainedName[]>();
  for (const [place, ca] of path.entries()) {
    const { nameConstraints } = ca.extensions;
    if (place === 0 || nameConstraints === undefined) continue;
    const { permitted = [], excluded = [] } = nameConstraints;
    for (const below of path.slice(0, place)) {
      if (below !== path[0] && isSelfIssued(below)) continue;
      const known = names.get(below) ?? namesOf(below);
      names.set(below, known);
      comparisons += known.length * (permitted.length + excluded.length);
      if (comparisons > MAX_COMPARISONS) return false;
      if (!known.every((name) => isPermitted(name, permitted, excluded))) return false;
    }
  }
  return true;
}

function isSelfIssued({ subjectDer, issuerDer }: NamedCertificate): boolean {
  return subjectDer.length === issuerDer.length && subjectDer.every((byte, i) => byte === issuerDer[i]);
}

/** All names of a certificate that constraints speak of: the alternative names, the subject, and mail addresses in it. */
function namesOf(certificate: NamedCertificate): readonly ConstrainedName[] {
  const alternatives = (certificate.extensions.generalNames ?? []).map(constrainedName);
  const subject = readDer(certificate.subjectDer);
  const steps = nameSteps(subject);
  const mail = alternatives.some(({ kind }) => kind === "email") ? [] : certificate.subject.filter(({ type }) => type === "E");
  return [
    ...alternatives,
    ...(steps.length === 0 ? [] : [{ kind: "directory", steps } as const]),
    ...mail.map(({ value }) => ({ kind: "email", value }) as const),
  ];
}

function constrainedName(name: DerElement): ConstrainedName {
  switch (name.tag) {
    case TEXT_TAGS.dns:
      return { kind: "dns", value: asciiOf(name).toLowerCase() };
    case TEXT_TAGS.email:
      return { kind: "email", value: asciiOf(name) };
    case TEXT_TAGS.uri:
      return { kind: "uri", value: asciiOf(name) };
    case 0x87:
      return { kind: "ip", bytes: name.content };
    case 0xa4:
      return { kind: "directory", steps: nameSteps(readDer(name.content)) };
    default:
      return { kind: "other", tag: name.tag };
  }
}

function isPermitted(name: ConstrainedName, permitted: readonly NameSubtree[], excluded: readonly NameSubtree[]): boolean {
  const same = (subtree: NameSubtree): boolean =>
    subtree.kind === name.kind && (subtree.kind !== "other" || (name.kind === "other" && subtree.tag === name.tag));
  const [ours, theirs] = [permitted.filter(same), excluded.filter(same)];
  if (ours.length === 0 && theirs.length === 0) return true;
  // What cannot be read, or is of a form that is not understood, is in no subtree that permits and in every one that excludes.
  if (!isReadable(name)) return false;
  return (
    !theirs.some((subtree) => contains(subtree, name, true)) && (ours.length === 0 || ours.some((s) => contains(s, name, false)))
  );
}

function isReadable(name: ConstrainedName): boolean {
  switch (name.kind) {
    case "dns":
      return isDnsName(name.value.replace(/^\*\./, ""));
    case "email": {
      const parts = name.value.split("@");
      return parts.length === 2 && parts[0] !== "" && isDnsName((parts[1] ?? "").toLowerCase());
    }
    case "uri":
      return hostOf(name.value) !== undefined;
    case "ip":
      return name.bytes.length === 4 || name.bytes.length === 16;
    case "directory":
      return true;
    case "other":
      return false;
  }
}

/** Whether a name lies in a subtree of its form; with `partly`, also when a wildcard only could. */
function contains(subtree: NameSubtree, name: ConstrainedName, partly: boolean): boolean {
  if (subtree.kind === "dns" && name.kind === "dns") return containsDns(subtree.value, name.value, partly);
  if (subtree.kind === "email" && name.kind === "email") {
    const [local = "", host = ""] = name.value.split("@");
    if (!subtree.value.includes("@")) return containsHost(subtree.value, host.toLowerCase());
    return subtree.value === `${local}@${host.toLowerCase()}`;
  }
  if (subtree.kind === "uri" && name.kind === "uri") return containsHost(subtree.value, hostOf(name.value) ?? "");
  if (subtree.kind === "ip" && name.kind === "ip") return containsAddress(subtree.value, name.bytes);
  if (subtree.kind === "directory" && name.kind === "directory") return subtree.steps.every((step, i) => name.steps[i] === step);
  return false;
}

function containsDns(base: string, name: string, partly: boolean): boolean {
  const host = name.replace(/^\*\./, "");
  if (base === "" || host === base || host.endsWith(`.${base}`)) return true;
  // A wildcard stands for one label: it reaches into the subtree of a child of its domain.
  return partly && host !== name && base.endsWith(`.${host}`) && !base.slice(0, -host.length - 1).includes(".");
}

/** Mail and URI subtrees: a host is itself alone, with a leading dot everything below it. */
function containsHost(base: string, host: string): boolean {
  return base.startsWith(".") ? host.endsWith(base) && host.length > base.length : host === base;
}

function containsAddress(range: string, bytes: Uint8Array): boolean {
  const mask = addressAndMask(range);
  const half = mask.length / 2;
  return (
    bytes.length === half && bytes.every((byte, i) => (byte & (mask[half + i] ?? 0)) === ((mask[i] ?? 0) & (mask[half + i] ?? 0)))
  );
}

/** The host of a URI with an authority; an address is no host (RFC 5280 4.2.1.10). */
function hostOf(uri: string): string | undefined {
  const authority = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(uri)?.[1];
  const host = authority
    ?.replace(/^[^@]*@/, "")
    .replace(/:\d*$/, "")
    .toLowerCase();
  return host !== undefined && isDnsName(host) && !/^[0-9.]+$/.test(host) ? host : undefined;
}

function addressAndMask(range: string): Uint8Array {
  const [address = "", prefix = ""] = range.split("/");
  const bytes = parseIp(address);
  const bits = Number(prefix);
  if (!/^\d{1,3}$/.test(prefix) || bits > bytes.length * 8) throw invalid("not a range of addresses");
  const mask = bytes.map((_, i) => 0xff00 >> Math.min(8, Math.max(0, bits - 8 * i)));
  return Uint8Array.from([...bytes, ...mask.map((byte) => byte & 0xff)]);
}

function isDnsName(name: string): boolean {
  return (
    name.length <= 253 && /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(name)
  );
}

/** The steps of a name in a form that compares as RFC 5280 7.1 compares: without regard to case and outer or repeated spaces. */
function nameSteps(name: DerElement): readonly string[] {
  return readChildren(name, TAG.sequence).map((step) =>
    readChildren(step, TAG.set)
      .map((attribute) => {
        const reader = new DerReader(attribute, TAG.sequence);
        const dotted = readOid(reader.next());
        const value = readString(reader.next());
        reader.end();
        return `${dotted}=${value.trim().replace(/\s+/g, " ").toLowerCase()}`;
      })
      .sort()
      .join("\0"),
  );
}

function asciiOf(item: DerElement): string {
  if (item.content.some((byte) => byte < 0x20 || byte > 0x7e)) throw invalid("a name is not printable ASCII");
  return String.fromCharCode(...item.content);
}

function invalid(reason: string) {
  return cryptoError("x509_invalid", reason, { reason });
}
