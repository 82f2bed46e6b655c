import ipaddr from "ipaddr.js";

/** The address that is counted: IPv4 as it is, IPv6 by its /64, since one caller owns that many. */
export function clientKey(address: string): string {
  if (!ipaddr.isValid(address)) return "unknown";
  const parsed = ipaddr.process(address);
  if (parsed.kind() === "ipv4") return parsed.toString();
  return `${(parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(":")}::/64`;
}
