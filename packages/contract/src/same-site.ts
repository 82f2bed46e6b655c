import type { WireRequest } from "./wire.ts";

/** What a page of another site can make a browser send without asking first (Fetch, CORS-safelisted request headers). */
const formTypes = new Set(["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"]);

/**
 * Why a request must be taken for one that a page of another site made a browser send; `undefined` when nothing speaks for that. Only a
 * credential that a browser adds by itself can be abused so: a client certificate or a cookie. `Sec-Fetch-Site` decides where the browser
 * says it (W3C Fetch Metadata), `Origin` against `Host` elsewhere (OWASP ASVS 5, 3.5). A program that is no browser sends neither.
 *
 * @example
 * ```ts
 * crossSite({ ...wire, peer, headers: { "sec-fetch-site": "cross-site" } }); // "Sec-Fetch-Site is cross-site"
 * ```
 */
export function crossSite({ headers, peer }: Pick<WireRequest, "headers" | "peer">): string | undefined {
  if (peer === undefined && headers["cookie"] === undefined) return undefined;
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin" || site === "none" ? undefined : `Sec-Fetch-Site is ${site.slice(0, 32)}`;
  const origin = headers["origin"];
  if (origin === undefined) return undefined;
  return hostOf(origin) === headers["host"]?.toLowerCase() ? undefined : "Origin is not this server";
}

/** Whether a body, also an empty one, is declared as what a form of any page can send. */
export function isForm(contentType: string | undefined): boolean {
  return formTypes.has((contentType ?? "").split(";")[0]?.trim().toLowerCase() ?? "");
}

/** `host:port` of an origin, without the port that its scheme has by default, as in `Host`; "" when it is opaque. */
function hostOf(origin: string): string {
  return /^https?:\/\/([^/?#@]+)$/i.exec(origin)?.[1]?.toLowerCase() ?? "";
}
