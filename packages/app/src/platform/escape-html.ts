import { checkArgument } from "@seneschal/kernel";

/** Text as it stands in a page, in an element or in an attribute of any quotes: nothing in it is markup. */
export function escapeHtml(text: string): string {
  checkArgument("text", text, "string");
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}
