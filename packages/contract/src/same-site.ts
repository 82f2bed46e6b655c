import { checkArgument } from "@seneschal/kernel";
import type { WireRequest } from "./wire.ts";

/** What a page of another site can make a browser send without asking first (Fetch, CORS-safelisted request headers). */
const formTypes = new Set(["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"]);

/**
 * Why a request must be taken for one that a page of another site made a browser send; `undefined` when nothing speaks for that. Only a
 * credential that a browser adds by itself can be abused so: a client certificate or a cookie.
 */
export function crossSite(wire: Pick<WireRequest, "headers" | "peer" | "secure">): string | undefined {
  return wire.peer === undefined && wire.headers["cookie"] === undefined ? undefined : otherSite(wire);
}

/**
 * Why the headers of a request say that a page of another site made it, whatever its credential. Both are heeded: `Sec-Fetch-Site` (W3C
 * Fetch Metadata), and `Origin` against `Host` (OWASP ASVS 5, 3.5). A program that is no browser sends neither. An origin without TLS is
 * another one than a server with TLS; the other way round a proxy may have ended it.
 *
 * @example
 * ```ts
 * import { otherSite } from "@seneschal/contract";
 * const headers = { host: "a.example", origin: "https://b.example", "sec-fetch-site": "none" };
 * console.log(otherSite({ headers })); // Origin is not this server
 * ```
 */
export function otherSite(request: Pick<WireRequest, "headers" | "secure">): string | undefined {
  checkArgument("request", request, "object");
  const { headers, secure } = request;
  const { origin, "sec-fetch-site": site } = headers;
  if (site !== undefined && site !== "same-origin" && site !== "none") return `Sec-Fetch-Site is ${site.slice(0, 32)}`;
  // A page that tells nobody where it is (`Referrer-Policy: no-referrer`) has no origin to say; its browser knows all the same.
  if (origin === undefined || (origin === "null" && site === "same-origin")) return undefined;
  const [, scheme, host] = /^(https?):\/\/([^/?#@]+)$/i.exec(origin.toLowerCase()) ?? [];
  const own = host !== undefined && host === headers["host"]?.toLowerCase() && !(scheme === "http" && secure === true);
  return own ? undefined : "Origin is not this server";
}

/** Whether a body, also an empty one, is declared as what a form of any page can send. */
export function isForm(contentType: string | undefined): boolean {
  return formTypes.has((contentType ?? "").split(";")[0]?.trim().toLowerCase() ?? "");
}
