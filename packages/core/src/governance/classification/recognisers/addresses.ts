import type { Recogniser } from "../recogniser.ts";

const word = "\\p{Lu}[\\p{L}'’-]{1,30}";

const context = ["address", "adresse", "anschrift", "dirección", "indirizzo", "live", "lives", "wohn", "habite"];

/** A way to write streets, with the words that one of them must hold. */
function street(words: RegExp, name: string, regex: RegExp): Recogniser {
  return {
    entity: "STREET_ADDRESS",
    patterns: [{ name, regex, score: 0.5 }],
    context,
    needs: (text) => words.test(text),
    prior: 0.6,
  };
}

/** Streets with a house number, by the words for streets of English, German, French, Spanish and Italian. */
export const addresses: readonly Recogniser[] = [
  street(
    /street|avenue|road|lane|drive|boulevard|court|terrace|crescent|highway|parkway|\b(?:st|ave|rd|ln|dr|blvd)\b/i,
    "number, name, street",
    new RegExp(
      `(?<![\\p{L}\\d.,/-])\\d{1,5}[A-Za-z]? (?:(?:N|S|E|W|North|South|East|West)\\.? )?(?:${word} ){1,3}(?:Street|Avenue|Road|Lane|Drive|Boulevard|Court|Terrace|Crescent|Highway|Parkway|(?:St|Ave|Rd|Ln|Dr|Blvd)(?=[.,;]|$|\\n))(?![\\p{L}\\d])`,
      "gu",
    ),
  ),
  street(
    /stra(?:ß|ss)e|str\.|gasse|allee/i,
    "street and number",
    /(?<![\p{L}\d])\p{Lu}[\p{L}-]{1,30}(?:straße|strasse|str\.|gasse|allee) \d{1,4}[a-z]?(?![\p{L}\d])/gu,
  ),
  street(
    /rue|avenue|boulevard|place|chemin|impasse/i,
    "number, street, name",
    new RegExp(
      `(?<![\\p{L}\\d.,/-])\\d{1,4}(?: ?(?:bis|ter))?,? (?:rue|avenue|boulevard|place|chemin|impasse) (?:(?:de|du|des|la|le|les|l['’]|d['’]) ?){0,2}${word}`,
      "gu",
    ),
  ),
  street(
    /calle|avenida|via|piazza/i,
    "street, name, number",
    new RegExp(
      `(?<![\\p{L}\\d])(?:[Cc]alle|[Aa]venida|[Vv]ia|[Pp]iazza|[Vv]iale) (?:(?:de|del|della|dei|la|las|los) ){0,2}${word}(?: ${word}){0,2},? (?:n[.º°] ?)?\\d{1,4}(?![\\p{L}\\d])`,
      "gu",
    ),
  ),
];
