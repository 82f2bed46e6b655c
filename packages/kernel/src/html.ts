import { checkArgument } from "./argument.ts";

/**
 * Text as it stands in a page, in an element or in an attribute of any quotes: nothing in it is markup.
 *
 * @example
 * ```ts
 * import { escapeHtml } from "@seneschal/kernel";
 * console.log(escapeHtml("<b>")); // &#60;b&#62;
 * ```
 */
export function escapeHtml(text: string): string {
  checkArgument("text", text, "string");
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}
