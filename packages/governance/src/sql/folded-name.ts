import { normalise } from "../classification/search/normalise.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: the ASCII range is meant
const ASCII = /^[\x00-\x7f]*$/;

/** A name as it is compared: composed (NFKC), without case in any script, without invisible characters, look-alikes as what they look like. */
export function foldedName(name: string): string {
  if (ASCII.test(name)) return name.toLowerCase();
  // Some letters fold by way of the other case alone: \u00df and SS, the two sigmas, the dotted and the dotless i.
  const cased = normalise(name.normalize("NFKC")).text.toLowerCase().toUpperCase().toLowerCase();
  return cased.replaceAll("\u03c2", "\u03c3").replaceAll("i\u0307", "i").normalize("NFKC");
}
