import { checkArgument } from "@seneschal/kernel";
import { refusal } from "../codes.ts";

/** The names that count when a certificate is asked for. DNS names in lower case, addresses in their one spelling. */
export interface NamesOfInstance {
  /** Under which the instance itself is reached. Nobody gets a certificate for them. */
  readonly own: readonly string[];
  /** What the operator gave each organisation's servers: `host`, `.domain` for everything below it, an address. */
  readonly given: Readonly<Record<string, readonly string[]>>;
}

/**
 * Whether an organisation may have a certificate under a name. The names of the instance and of the machine are never given; a
 * server's name was given by the operator, a client's may be any other. Throws `FORBIDDEN`.
 */
export function requireCertifiableName(
  input: NamesOfInstance,
  asked: { readonly org: string; readonly usage: "client" | "server"; readonly name: string; readonly field: string },
): void {
  checkArgument("input", input, "object");
  checkArgument("asked", asked, "object");
  const { own, given } = input;
  const name = asked.name.toLowerCase().replace(/\.$/, "");
  const { field, org } = asked;
  if (isOfThisMachine(name) || own.some((other) => overlap(name, other.toLowerCase()))) {
    throw refusal("FORBIDDEN", `${name} is a name of this instance: certificates for it are not issued to organisations`, {
      field,
    });
  }
  if (asked.usage === "client") return;
  const mine = Object.hasOwn(given, org) ? (given[org] ?? []) : [];
  if (!mine.some((entry) => covers(entry.toLowerCase(), name))) {
    const reason = "the organisation was not given this name for a server: the operator names it in pki.server_names";
    throw refusal("FORBIDDEN", reason, { field });
  }
}

function isOfThisMachine(name: string): boolean {
  return (
    ["localhost", "*.localhost", "0.0.0.0", "::", "::1"].includes(name) ||
    name.endsWith(".localhost") ||
    /^(?:::ffff:)?127\.\d+\.\d+\.\d+$/.test(name) ||
    /^::ffff:(?:7f[0-9a-f]{2}:[0-9a-f]{1,4}|0:0)$/.test(name)
  );
}

/** Whether an entry holds a name: itself, or with a leading dot everything below it, wildcards too. */
function covers(entry: string, name: string): boolean {
  return entry.startsWith(".") ? name.endsWith(entry) && name.length > entry.length : name === entry;
}

/** Whether two names can stand for one host. A wildcard stands for one label. */
function overlap(one: string, other: string): boolean {
  return one === other || wildcardHolds(one, other) || wildcardHolds(other, one);
}

function wildcardHolds(wildcard: string, name: string): boolean {
  return wildcard.startsWith("*.") && name.slice(name.indexOf(".")) === wildcard.slice(1) && name.includes(".");
}
