import { checkArgument } from "@seneschal/kernel";

/** Where a request for a page is sent instead. */
export interface WebsiteRedirect {
  readonly host?: string;
  readonly protocol?: "http" | "https";
  /** Of HTTP; default 301. */
  readonly code?: number;
  /** In place of the prefix that the rule asks for. */
  readonly replacePrefix?: string;
  /** In place of the whole key. */
  readonly replaceKey?: string;
}

/** A rule that redirects: all of what it asks for must hold. */
export interface WebsiteRule {
  readonly prefix?: string;
  /** The answer that the request would have got. */
  readonly status?: number;
  readonly redirect: WebsiteRedirect;
}

/** How a bucket is a website (Amazon S3, "Hosting a static website"): everything is redirected, or there is an index document. */
export interface Website {
  readonly redirectAll?: Pick<WebsiteRedirect, "host" | "protocol">;
  /** What the key of a directory's page ends with. */
  readonly index?: string;
  /** The key of the page that tells of errors. */
  readonly error?: string;
  readonly rules?: readonly WebsiteRule[];
}

/** Where a request goes; what is absent stays as the client had it. */
export interface WebsiteTarget {
  readonly code: number;
  readonly host?: string;
  readonly protocol?: "http" | "https";
  readonly key: string;
}

/**
 * The key that is served for a path without its first slash.
 *
 * @example
 * ```ts
 * import { pageKey } from "@seneschal/core/storage";
 * console.log(pageKey({ index: "index.html" }, ""), pageKey({ index: "index.html" }, "a/")); // index.html a/index.html
 * ```
 */
export function pageKey(website: Website, path: string): string {
  checkArgument("website", website, "object");
  checkArgument("path", path, "string");
  const { index = "" } = website;
  return path === "" || path.endsWith("/") ? path + index : path;
}

/**
 * Where the website sends a request for a key, `undefined` when it does not. `status`: what the request was answered; without it, the
 * rules count that need no answer.
 *
 * @example
 * ```ts
 * import { redirectOf } from "@seneschal/core/storage";
 * const site = { index: "index.html", rules: [{ prefix: "old/", redirect: { replacePrefix: "new/" } }] };
 * console.log(redirectOf(site, "old/a.html")?.key); // new/a.html
 * ```
 */
export function redirectOf(site: Website, key: string, status?: number): WebsiteTarget | undefined {
  checkArgument("site", site, "object");
  checkArgument("key", key, "string");
  if (site.redirectAll !== undefined) return { code: 301, key, ...site.redirectAll };
  const rule = site.rules?.find((r) => r.status === status && key.startsWith(r.prefix ?? ""));
  if (rule === undefined) return undefined;
  const { host, protocol, code = 301, replaceKey, replacePrefix } = rule.redirect;
  const replaced = replacePrefix === undefined ? key : replacePrefix + key.slice(rule.prefix?.length ?? 0);
  return { code, key: replaceKey ?? replaced, ...(host !== undefined && { host }), ...(protocol !== undefined && { protocol }) };
}
