import { checkArgument } from "@seneschal/kernel";
import type { WireResponse } from "./wire.ts";

/** Segments of what RFC 3986 calls unreserved, of escapes and of what is harmless in a cookie, a header and a page. */
const BASE_PATH = /^(?:\/[A-Za-z0-9._~%:@+-]+)*$/;

/** Whether a text can stand in front of a service's paths: `""` or `/keys`, `/a/b`. */
export function isBasePath(text: string): boolean {
  return BASE_PATH.test(text);
}

/**
 * The base path of an option: without a slash at its end, "" for the root. Throws `TypeError` for what is none.
 *
 * @example
 * ```ts
 * import { basePathOf } from "@seneschal/contract";
 * console.log(basePathOf("/keys/")); // /keys
 * ```
 */
export function basePathOf(text: string): string {
  checkArgument("text", text, "string");
  const path = text.replace(/\/$/, "");
  if (!isBasePath(path)) throw new TypeError(`basePath: ${JSON.stringify(text)} is no path such as /keys`);
  return path;
}

/** What of a path lies below the base path, `/` at least; `undefined` when it lies elsewhere. */
export function below(path: string, basePath: string): string | undefined {
  if (basePath === "") return path;
  if (path === basePath) return "/";
  return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : undefined;
}

/**
 * The reply of a service that is mounted below `basePath`, as its callers must see it: the base path stands in front of every path of
 * this origin in `Location`, `Content-Location`, `Link` and the `Path` of cookies.
 */
export function rebased(response: WireResponse, basePath: string): WireResponse {
  const headers: Record<string, string> = { ...response.headers };
  for (const [name, rewrite] of Object.entries(REWRITES)) {
    const value = headers[name];
    if (value !== undefined) headers[name] = rewrite(value, basePath);
  }
  return { ...response, headers };
}

type Rewrite = (value: string, basePath: string) => string;

/** A path of this origin begins with one slash; with two it names another host. */
const placed: Rewrite = (value, basePath) => (/^\/(?!\/)/.test(value) ? basePath + value : value);

const REWRITES: Readonly<Record<string, Rewrite>> = {
  location: placed,
  "content-location": placed,
  link: (value, basePath) => value.replace(/<([^>]*)>/g, (_, target: string) => `<${placed(target, basePath)}>`),
  "set-cookie": (value, basePath) =>
    value.replace(/(;\s*path=)(\/[^;]*)/i, (_, name: string, path: string) => name + basePath + (path === "/" ? "" : path)),
};
