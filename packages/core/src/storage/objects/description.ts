import { checkArgument } from "@seneschal/kernel";
import { objectError } from "./object-errors.ts";
import type { ObjectDraft } from "./object-store.ts";

/**
 * Throws `InvalidArgument` for a description that no HTTP answer could give back, whichever way it came: values are bytes, one in a
 * character, without controls but the tab; names of metadata are tokens (RFC 9110, 5.5 and 5.1).
 *
 * @example
 * ```ts
 * import { checkDescription } from "@seneschal/core/storage";
 * checkDescription({ contentType: "text/plain", headers: {}, meta: {} });
 * try {
 *   checkDescription({ contentType: "text/\n", headers: {}, meta: {} });
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // InvalidArgument
 * }
 * ```
 */
export function checkDescription(description: Pick<ObjectDraft, "contentType" | "headers" | "meta">): void {
  checkArgument("description", description, "object");
  const { contentType, headers, meta } = description;
  for (const name of Object.keys(meta))
    if (!/^[!#$%&'*+\-.^_`|~0-9a-z]+$/i.test(name))
      throw objectError("InvalidArgument", `${JSON.stringify(name)} cannot be the name of metadata`, {
        field: `x-amz-meta-${name}`,
      });
  const metadata = Object.entries(meta).map(([name, value]) => [`x-amz-meta-${name}`, value] as const);
  for (const [name, value] of [["content-type", contentType] as const, ...Object.entries(headers), ...metadata])
    if (!isFieldValue(value))
      throw objectError("InvalidArgument", `${name} holds a character that no header can have`, { field: name });
}

/**
 * True for what the value of a header field may be: bytes, one in a character, without controls but the tab.
 *
 * @example
 * ```ts
 * import { isFieldValue } from "@seneschal/core/storage";
 * console.log(isFieldValue("text/plain"), isFieldValue("a\nb")); // true false
 * ```
 */
export function isFieldValue(text: string): boolean {
  checkArgument("text", text, "string");
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
}
