import { type LookupAddress, type LookupOptions, lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { checkArgument } from "@seneschal/kernel";

/** Decides which hosts may be called at an address that somebody else chose. */
export interface TargetGuard {
  /** Why this URL may not be called, as far as the URL itself tells; `undefined` when nothing is wrong with it. */
  refusal(url: URL): string | undefined;
  /** Name resolution that hides forbidden addresses: what a name resolves to is judged at every connection. */
  readonly lookup: LookupFunction;
}

/** Special-purpose addresses (RFC 6890 and its registry): nothing that a caller from outside should reach through us. */
const special4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
] as const;
/**
 * Global unicast is 2000::/3 (RFC 4291; IANA assigns nothing else): what lies outside is local, mapped, translated, segment routing or
 * not given out. Inside, the ranges that are for protocols and documents.
 */
const special6 = ["::/3", "4000::/2", "8000::/1", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"] as const;

/**
 * A guard against server-side request forgery: public addresses may be called, private and special ones only if `allowed`
 * names them. An entry is an address, a range such as `10.0.0.0/8`, or an exact host name, which may then resolve to
 * anything.
 */
export function targetGuard(allowed: readonly string[]): TargetGuard {
  checkArgument("allowed", allowed, "array");
  // A list of their own each: one list takes an IPv4 address for its mapped form too.
  const special = { ipv4: blockList(special4), ipv6: blockList(special6) };
  const addresses = blockList(allowed.filter((entry) => isIP(entry.split("/")[0] ?? "") !== 0));
  const names = new Set(allowed.map(folded));

  const permits = (address: string): boolean => {
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    return addresses.check(address, family) || !special[family].check(address, family);
  };

  const guarded = (hostname: string, options: LookupOptions, callback: Parameters<LookupFunction>[2]): void => {
    lookup(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
      if (error !== null) return callback(error, "");
      const usable = names.has(folded(hostname)) ? found : found.filter(({ address }) => permits(address));
      const [first] = usable;
      if (first === undefined) {
        const refused: NodeJS.ErrnoException = new Error("the host resolves to an address that may not be called");
        refused.code = "ETARGET";
        return callback(refused, "");
      }
      if (options.all === true) return callback(null, usable);
      return callback(null, first.address, first.family);
    });
  };

  return {
    refusal({ hostname }) {
      const host = folded(hostname.replace(/^\[|\]$/g, ""));
      if (names.has(host)) return undefined;
      if (isIP(host) !== 0) return permits(host) ? undefined : "a private address must be allowed by the configuration";
      const local = host === "localhost" || host.endsWith(".localhost");
      return local && !permits("127.0.0.1") ? "a private address must be allowed by the configuration" : undefined;
    },
    lookup: guarded as LookupFunction,
  };
}

/** Names without regard to case and to the dots at their end, which say that there is no more of them. */
function folded(name: string): string {
  return name.toLowerCase().replace(/\.+$/, "");
}

function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = "", bits] = range.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}
