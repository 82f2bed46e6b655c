import { checkArgument } from "@seneschal/kernel";

/** The words of a name: snake_case, camelCase and blanks apart, lower case, singular. */
export function wordsOf(text: string): string[] {
  checkArgument("text", text, "string");
  return text
    .replace(/\b([A-Z]{2,})s\b/g, "$1")
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((word) => word !== "")
    .map(singular);
}

/** English singular by rule; good enough to match a lexicon. */
function singular(word: string): string {
  if (word.length < 4 || word.endsWith("ss") || word.endsWith("us") || word.endsWith("is")) return word;
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (/(?:ss|x|ch|sh|diagnos)es$/.test(word)) return word.endsWith("diagnoses") ? `${word.slice(0, -2)}is` : word.slice(0, -2);
  return word.endsWith("s") ? word.slice(0, -1) : word;
}
