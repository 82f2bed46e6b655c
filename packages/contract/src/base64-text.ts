import { checkArgument } from "@seneschal/kernel";

/** Base64 as bodies have it: padding may be left out. */
export const base64Text = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$";

// Browsers and Node have it; these types have no host.
const { atob } = globalThis as unknown as { readonly atob: (text: string) => string };

/** What the host's decoder passes over, and base64 has not. */
const SPACES = ["\t", "\n", "\f", "\r", " "];

/**
 * How many bytes a base64 text holds; `undefined` for any other text. Says what the schema of base64 texts says, by the host's decoder (the forgiving one of the
 * WHATWG's Infra Standard): of megabytes in a tenth of the time that looking at each character takes.
 */
export function base64Bytes(text: string): number | undefined {
  checkArgument("text", text, "string");
  if (SPACES.some((space) => text.includes(space))) return undefined;
  try {
    return atob(text).length;
  } catch {
    return undefined;
  }
}
