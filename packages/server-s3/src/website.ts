import { STATUS_CODES } from "node:http";
import {
  type Bucket,
  maxKeyBytes,
  pageKey,
  redirectOf,
  type Website,
  type WebsiteRedirect,
  type WebsiteRule,
  type WebsiteTarget,
} from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import { type S3Call, type S3Reply, xmlReply } from "./call.ts";
import { s3Error, s3Failure } from "./errors.ts";
import { redirectHeader } from "./object-headers.ts";
import { getObject } from "./object-operations.ts";
import { childText, escapeXml, type XmlElement, xmlDocument } from "./xml.ts";
import { readDocument } from "./xml-documents.ts";

const maxRules = 50;
const hostName = /^(?=.{1,253}(?::|$))[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*(?::\d{1,5})?$/;

export async function putWebsite(call: S3Call): Promise<S3Reply> {
  const website = readWebsite(await readDocument(call, "WebsiteConfiguration", { limit: 128 * 1024 }));
  const set = (bucket: Bucket) => ({ ...bucket, website }) as unknown as Bucket;
  await call.objects.changeBucket(call.tenant, call.bucket, "website", set);
  return { status: 200 };
}

const child = (element: XmlElement | undefined, name: string) => element?.children.find((c) => c.name === name);

/** Reads the document. Throws `MalformedXML`, `InvalidRequest`, `InvalidArgument`. */
function readWebsite(root: XmlElement): Website {
  const all = child(root, "RedirectAllRequestsTo");
  if (all !== undefined) {
    if (root.children.length > 1)
      throw s3Error("InvalidRequest", "RedirectAllRequestsTo cannot be provided in conjunction with other Routing Rules.");
    const redirect = readRedirect(all);
    if (redirect.host === undefined) throw s3Error("MalformedXML", "RedirectAllRequestsTo has a HostName");
    return { redirectAll: redirect };
  }
  const index = childText(child(root, "IndexDocument") ?? root, "Suffix");
  if (!index)
    throw s3Error("InvalidArgument", "A value for IndexDocument Suffix must be provided if RedirectAllRequestsTo is empty");
  if (index.includes("/")) throw s3Error("InvalidArgument", "The IndexDocument Suffix is not well formed");
  const error = child(root, "ErrorDocument");
  const key = error === undefined ? undefined : childText(error, "Key");
  if (error !== undefined && (!key || Buffer.byteLength(key) > maxKeyBytes))
    throw s3Error("InvalidArgument", "The ErrorDocument Key is not well formed");
  const rules = (child(root, "RoutingRules")?.children ?? []).map(readRule);
  if (rules.length > maxRules) throw s3Error("InvalidRequest", `a website has at most ${maxRules} RoutingRules`);
  return { index, ...(key && { error: key }), ...(rules.length > 0 && { rules }) };
}

function readRule(element: XmlElement): WebsiteRule {
  const [condition, redirect] = [child(element, "Condition"), child(element, "Redirect")];
  if (redirect === undefined || redirect.children.length === 0)
    throw s3Error("MalformedXML", "a RoutingRule has a Redirect that says something");
  const [prefix, status] = ["KeyPrefixEquals", "HttpErrorCodeReturnedEquals"].map((name) =>
    condition === undefined ? undefined : childText(condition, name),
  );
  if (condition !== undefined && prefix === undefined && status === undefined)
    throw s3Error(
      "InvalidRequest",
      "Condition cannot be empty. To redirect all requests without a condition, the condition element shouldn't be present.",
    );
  if (status !== undefined && !/^[45]\d\d$/.test(status))
    throw s3Error("InvalidRequest", `The provided HTTP error code (${status}) is not valid. Valid codes are 4XX or 5XX.`);
  return {
    ...(prefix !== undefined && { prefix }),
    ...(status !== undefined && { status: Number(status) }),
    redirect: readRedirect(redirect),
  };
}

function readRedirect(element: XmlElement): WebsiteRedirect {
  const textOf = (name: string) => childText(element, name);
  const [host, protocol, code] = [textOf("HostName"), textOf("Protocol"), textOf("HttpRedirectCode")];
  const [replacePrefix, replaceKey] = [textOf("ReplaceKeyPrefixWith"), textOf("ReplaceKeyWith")];
  if (host !== undefined && !hostName.test(host))
    throw s3Error("InvalidRequest", "the HostName of a redirect is not well formed");
  if (protocol !== undefined && protocol !== "http" && protocol !== "https")
    throw s3Error(
      "InvalidRequest",
      "Invalid protocol, protocol can be http or https. If not defined, the protocol will be selected automatically.",
    );
  if (code !== undefined && !/^30[1-8]$/.test(code))
    throw s3Error("InvalidRequest", `The provided HTTP redirect code (${code}) is not valid. Valid codes are 3XX except 300.`);
  if (replacePrefix !== undefined && replaceKey !== undefined)
    throw s3Error("InvalidRequest", "You can only define ReplaceKeyPrefix or ReplaceKey but not both.");
  return {
    ...(host !== undefined && { host }),
    ...(protocol !== undefined && { protocol }),
    ...(code !== undefined && { code: Number(code) }),
    ...(replacePrefix !== undefined && { replacePrefix }),
    ...(replaceKey !== undefined && { replaceKey }),
  };
}

export async function getWebsite(call: S3Call): Promise<S3Reply> {
  const { website } = await call.objects.openBucket(call.tenant, call.bucket);
  if (website === undefined) throw s3Error("NoSuchWebsiteConfiguration", "the bucket has no website configuration");
  const { redirectAll, index, error, rules } = website;
  return xmlReply(
    xmlDocument("WebsiteConfiguration", {
      RedirectAllRequestsTo: redirectAll && { HostName: redirectAll.host, Protocol: redirectAll.protocol },
      IndexDocument: index === undefined ? undefined : { Suffix: index },
      ErrorDocument: error === undefined ? undefined : { Key: error },
      RoutingRules: rules && {
        RoutingRule: rules.map(({ prefix, status, redirect }) => ({
          ...((prefix !== undefined || status !== undefined) && {
            Condition: { KeyPrefixEquals: prefix, HttpErrorCodeReturnedEquals: status },
          }),
          Redirect: {
            Protocol: redirect.protocol,
            HostName: redirect.host,
            ReplaceKeyPrefixWith: redirect.replacePrefix,
            ReplaceKeyWith: redirect.replaceKey,
            HttpRedirectCode: redirect.code,
          },
        })),
      },
    }),
  );
}

export async function removeWebsite(call: S3Call): Promise<S3Reply> {
  await call.objects.changeBucket(call.tenant, call.bucket, "website", ({ website: _, ...bucket }) => bucket as Bucket);
  return { status: 204 };
}

/** A request to the website of a bucket, which nobody signs. `key`: the path without its first slash. */
type PageRequest = Pick<
  S3Call,
  "objects" | "random" | "reach" | "method" | "bucket" | "key" | "query" | "headers" | "root" | "now"
>;

/**
 * Answers as a website does, with pages and redirects. It gives what the bucket's policy lets everybody read, and tells of what is not
 * there only where everybody may list; a bucket that is no website and one that is not there are the same.
 */
export async function servePage({ requestId, ...call }: PageRequest & { readonly requestId: string }): Promise<S3Reply> {
  const { method, bucket, key: path } = call;
  if (method !== "GET" && method !== "HEAD")
    return { ...page(405, "MethodNotAllowed", requestId), headers: { ...html, allow: "GET, HEAD" } };
  const record = await call.objects.findBucket(bucket);
  const site = record?.deleting === true ? undefined : record?.website;
  if (site === undefined) return page(404, "NoSuchWebsiteConfiguration", requestId);
  const key = pageKey(site, path);
  const early = redirectOf(site, path);
  if (early !== undefined) return redirect(call, early);
  try {
    const reply = await read(call, key);
    const elsewhere = reply.headers?.[redirectHeader];
    return elsewhere === undefined ? reply : { status: 301, headers: { location: elsewhere } };
  } catch (error) {
    const { status, code } = s3Failure(error);
    if (key === path && isCoded(error, "NotFound", "TenantAccessDenied", "AccessDenied")) {
      // The name of a directory without its slash.
      const there = await read({ ...call, method: "HEAD", headers: {} }, `${path}/${site.index}`).catch(() => undefined);
      if (there !== undefined) return redirect(call, { code: 302, key: `${path}/` });
    }
    const late = redirectOf(site, path, status);
    if (late !== undefined) return redirect(call, late);
    if (site.error !== undefined && status >= 400 && status < 500 && status !== 412 && status !== 416) {
      const told = await read({ ...call, headers: {} }, site.error).catch(() => undefined);
      if (told !== undefined) return { ...told, status };
    }
    if (status >= 500) throw error;
    return page(status, code, requestId);
  }
}

/** An object as everybody may read it. */
async function read(call: PageRequest, key: string): Promise<S3Reply> {
  const { bucket, reach } = call;
  const tenant = await reach({ bucket, key, actions: ["s3:GetObject"] });
  return getObject({ ...call, tenant, key, region: "", body: noBody, mayDeliverLogs: async () => false }).catch(
    async (error: unknown) => {
      // Who may not list does not learn what is there.
      if (isCoded(error, "NotFound")) await reach({ bucket, key: "", actions: ["s3:ListBucket"], prefix: key });
      throw error;
    },
  );
}

function noBody(): never {
  throw s3Error("InvalidRequest", "a page is asked for without a body");
}

function redirect({ root }: Pick<S3Call, "root">, { code, host, protocol, key }: WebsiteTarget): S3Reply {
  const [, scheme, own] = /^(https?):\/\/(.*)$/.exec(root) ?? [];
  const path = key.split("/").map(encodeURIComponent).join("/");
  return { status: code, headers: { location: `${protocol ?? scheme}://${host ?? own}/${path}` } };
}

const html = { "content-type": "text/html; charset=utf-8" };

function page(status: number, code: string, requestId: string): S3Reply {
  const title = escapeXml(`${status} ${STATUS_CODES[status] ?? ""}`.trim());
  const body = `<!doctype html>\n<html><head><title>${title}</title></head><body><h1>${title}</h1><ul><li>Code: ${escapeXml(code)}</li><li>RequestId: ${requestId}</li></ul></body></html>\n`;
  return { status, headers: html, body };
}
