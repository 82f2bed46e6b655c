import type { IncomingMessage } from "node:http";
import { checkArgument } from "@seneschal/contract";

/** A target in absolute form, and who it names. */
const absoluteForm = /^https?:\/\/([^/?#]*)/i;

/** `uri-host [ ":" port ]` of RFC 9110 section 7.2: a name, possibly empty, or an address, without user and password. */
const hostForm = /^(?:\[[\w:.~!$&'()*+,;=%-]+\]|(?:[\w.~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)(?::\d*)?$/;

/**
 * Whom a request is for: its `Host`, or where its target is in absolute form who that names, beside which `Host` means nothing (RFC 9112
 * section 3.2.2). `undefined` for a request of HTTP/1.0 without one. Asked of what {@link brokenBy} finds nothing in.
 */
export function hostOf(request: Pick<IncomingMessage, "headers">, target: string): string | undefined {
  checkArgument("request", request, "object");
  checkArgument("target", target, "string");
  return absoluteForm.exec(target)?.[1] ?? request.headers.host;
}

/** The same target in origin form: path and query. */
export function originForm(target: string): string {
  checkArgument("target", target, "string");
  const behind = target.replace(absoluteForm, "");
  return behind === target || behind.startsWith("/") ? behind : `/${behind}`;
}

/**
 * Why a request that Node's parser took is none: a version of before 1.0; HTTP/1.1 without a Host, two of them, or one that is no host
 * (RFC 9112 section 3.2); two lines of another header of one value that says who or what (RFC 9110 section 5.3). Of two lines Node shows
 * the first alone, whatever its options are: `requireHostHeader` looks for one that is missing, `insecureHTTPParser` for none.
 */
export function brokenBy(
  request: Pick<IncomingMessage, "headers" | "rawHeaders" | "httpVersion">,
  target: string,
): string | undefined {
  checkArgument("request", request, "object");
  checkArgument("target", target, "string");
  const { headers, rawHeaders, httpVersion } = request;
  if (httpVersion !== "1.1" && httpVersion !== "1.0") return "the version is neither HTTP/1.1 nor HTTP/1.0";
  let [hosts, credentials, types] = [0, 0, 0];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
    else if (name.length === 13 && name.toLowerCase() === "authorization") credentials++;
    else if (name.length === 12 && name.toLowerCase() === "content-type") types++;
  }
  if (hosts > 1 || credentials > 1 || types > 1) return "a header of one value is there twice";
  if (hosts === 0 && httpVersion === "1.1") return "the Host header is missing";
  if (!hostForm.test(headers.host ?? "")) return "the Host header is no host";
  const named = absoluteForm.exec(target)?.[1];
  return named !== undefined && (named.startsWith(":") || named === "" || !hostForm.test(named))
    ? "the request target names no host"
    : undefined;
}
