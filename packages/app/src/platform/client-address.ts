import { checkArgument } from "@seneschal/kernel";
import ipaddr from "ipaddr.js";

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** True for a CIDR range such as `10.0.0.0/8` or `2001:db8::/32`; a single address is its own range. */
export function isCidr(text: string): boolean {
  checkArgument("text", text, "string");
  return isAddress(text.split("/")[0] ?? "") && (isAddress(text) || ipaddr.isValidCIDR(text));
}

/** Written out: `1` and `0x7f.1` are addresses to some readers only. */
function isAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
}

/**
 * Tells where requests come from behind reverse proxies in `trusted` ranges. Whoever is not trusted is the client, whatever they
 * claim; a trusted proxy is believed about the hop before it, so `X-Forwarded-For` is read from its end, up to the first
 * address that is no trusted proxy. Without ranges the header counts for nothing.
 */
export function clientAddress(trusted: readonly string[]): (peer: string, forwarded: string | undefined) => string {
  const isProxy = inRanges(trusted);
  return (peer, forwarded) => {
    if (trusted.length === 0 || forwarded === undefined || !isProxy(peer)) return peer;
    const hops = forwarded.split(",").map((hop) => hop.trim());
    // What cannot be read was not written by a proxy of ours: the proxy itself is the last that is known.
    let known = peer;
    for (const hop of hops.reverse()) {
      if (!isAddress(hop)) return known;
      known = hop;
      if (!isProxy(hop)) return hop;
    }
    return known;
  };
}

/** Tells whether an address is in one of the CIDR ranges; what is no address is in none. */
export function inRanges(texts: readonly string[]): (address: string) => boolean {
  checkArgument("texts", texts, "array");
  const ranges = texts.map(rangeOf);
  return (address) => {
    if (!isAddress(address)) return false;
    const parsed = ipaddr.process(address);
    return ranges.some(([range, bits]) => range.kind() === parsed.kind() && parsed.match([range, bits] as never));
  };
}

function rangeOf(text: string): Range {
  if (!isAddress(text)) return ipaddr.parseCIDR(text);
  const address = ipaddr.process(text);
  return [address, address.kind() === "ipv4" ? 32 : 128];
}
