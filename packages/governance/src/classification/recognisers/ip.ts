import { checkArgument } from "@seneschal/kernel";
import type { Recogniser } from "../search/recogniser.ts";

const octet = "(?:25[0-5]|2[0-4]\\d|1\\d{2}|[1-9]?\\d)";

/** Internet addresses, version 4 (strictly four parts) and 6 (RFC 4291 text forms, zones, prefixes). */
export const ip: readonly Recogniser[] = [
  {
    entity: "IP_ADDRESS",
    patterns: [
      {
        name: "IPv4",
        regex: new RegExp(
          `(?<![A-Za-z\\d.])${octet}(?:\\.${octet}){3}(?!\\w|-(?:alpha|beta|rc|dev|pre|snapshot))(?:\\/(?:3[0-2]|[12]?\\d)(?!\\d))?`,
          "g",
        ),
        score: 0.6,
      },
      {
        name: "IPv6",
        regex:
          /(?<![A-Za-z\d])(?<![A-Za-z\d]:)(?<!::)(?=[0-9A-Fa-f]{0,4}:)[0-9A-Fa-f:]{2,39}(?:\.\d{1,3}){0,3}(?![A-Za-z\d:])(?!\.\d)(?:%[A-Za-z0-9]{1,16})?(?:\/(?:12[0-8]|1[01]\d|[1-9]?\d)(?!\d))?/g,
        score: 0.6,
      },
      { name: "unspecified", regex: /(?<![A-Za-z\d:])::(?:\/(?:12[0-8]|1[01]\d|[1-9]?\d))?(?![A-Za-z\d:/])/g, score: 0.1 },
    ],
    validate: (match) => {
      const address = match.replace(/[%/].*$/, "");
      // RFC 6890: this host, every host, and what masks them are nobody's address.
      if (/^(?:127\.|0\.0\.0\.0$|255\.)/.test(address) || address === "::1") return false;
      if (!match.includes(":")) return match.includes(".") ? undefined : false;
      if (address === "::") return undefined;
      return isIpv6(address) ? undefined : false;
    },
    context: ["ip", "ipv4", "ipv6", "address", "host", "server", "subnet", "gateway"],
    needs: (text) => /\d\.|[\dA-Fa-f:]:/.test(text),
    prior: 0.8,
  },
];

/** RFC 4291 section 2.2: eight groups, one run of zeros as `::`, the last two groups also as dotted decimal. */
export function isIpv6(text: string): boolean {
  checkArgument("text", text, "string");
  const halves = text.split("::");
  if (halves.length > 2) return false;
  let groups = 0;
  for (const [h, half] of halves.entries()) {
    if (half === "") continue;
    const parts = half.split(":");
    for (const [i, part] of parts.entries()) {
      if (/^[0-9A-Fa-f]{1,4}$/.test(part)) groups++;
      else if (h === halves.length - 1 && i === parts.length - 1 && new RegExp(`^${octet}(?:\\.${octet}){3}$`).test(part))
        groups += 2;
      else return false;
    }
  }
  return halves.length === 2 ? groups <= 7 : groups === 8;
}
