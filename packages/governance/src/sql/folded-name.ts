import { normalise } from "../classification/normalise.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: the ASCII range is meant
const ASCII = /^[\x00-\x7f]*$/;

/** A name as it is compared: without case, in compatibility forms (NFKC), without invisible characters, look-alikes as what they look like. */
export function foldedName(name: string): string {
  return (ASCII.test(name) ? name : normalise(name).text).toLowerCase();
}
