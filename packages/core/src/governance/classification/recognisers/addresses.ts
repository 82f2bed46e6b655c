import type { Recogniser } from "../recogniser.ts";

const word = "\\p{Lu}[\\p{L}'’-]{1,30}";

/** Streets with a house number, by the words for streets of English, German, French, Spanish and Italian. */
export const addresses: readonly Recogniser[] = [
  {
    entity: "STREET_ADDRESS",
    patterns: [
      {
        name: "number, name, street",
        regex: new RegExp(
          `(?<![\\p{L}\\d.,/-])\\d{1,5}[A-Za-z]? (?:(?:N|S|E|W|North|South|East|West)\\.? )?(?:${word} ){1,3}(?:Street|Avenue|Road|Lane|Drive|Boulevard|Court|Terrace|Crescent|Highway|Parkway|(?:St|Ave|Rd|Ln|Dr|Blvd)(?=[.,;]|$|\\n))(?![\\p{L}\\d])`,
          "gu",
        ),
        score: 0.5,
      },
      {
        name: "street and number",
        regex: /(?<![\p{L}\d])\p{Lu}[\p{L}-]{1,30}(?:straße|strasse|str\.|gasse|allee) \d{1,4}[a-z]?(?![\p{L}\d])/gu,
        score: 0.5,
      },
      {
        name: "number, street, name",
        regex: new RegExp(
          `(?<![\\p{L}\\d.,/-])\\d{1,4}(?: ?(?:bis|ter))?,? (?:rue|avenue|boulevard|place|chemin|impasse) (?:(?:de|du|des|la|le|les|l['’]|d['’]) ?){0,2}${word}`,
          "gu",
        ),
        score: 0.5,
      },
      {
        name: "street, name, number",
        regex: new RegExp(
          `(?<![\\p{L}\\d])(?:[Cc]alle|[Aa]venida|[Vv]ia|[Pp]iazza|[Vv]iale) (?:(?:de|del|della|dei|la|las|los) ){0,2}${word}(?: ${word}){0,2},? (?:n[.º°] ?)?\\d{1,4}(?![\\p{L}\\d])`,
          "gu",
        ),
        score: 0.5,
      },
    ],
    context: ["address", "adresse", "anschrift", "dirección", "indirizzo", "live", "lives", "wohn", "habite"],
    digits: 1,
    prior: 0.6,
  },
];
