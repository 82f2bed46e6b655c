const WORDS_BEFORE = 6;
const WORDS_AFTER = 5;
const REACH = 120;

/**
 * The context word that speaks for a match, if any: among the hints, the five words before or behind. `lowered` is the folded text in
 * lower case. A word of four letters or more also counts at the beginning of a longer one, of six or more
 * anywhere inside (`mypassportnumber`), one of a script without blanks always.
 */
export function contextOf(
  lowered: string,
  start: number,
  end: number,
  words: readonly string[],
  hints: readonly string[] = [],
): string | undefined {
  if (words.length === 0) return undefined;
  const before = lastWords(lowered.slice(Math.max(0, start - REACH), start), WORDS_BEFORE);
  const after = firstWords(lowered.slice(end, end + REACH), WORDS_AFTER);
  for (const word of foldedWords(words)) {
    if (holds(before, word) || holds(after, word) || hints.some((hint) => holds(hint, word))) return word;
  }
  return undefined;
}

const FOLDED = new WeakMap<readonly string[], readonly string[]>();

/** Words in the form that folded texts have them in: NFKC takes some letters apart (Thai sara am). */
export function foldedWords(words: readonly string[]): readonly string[] {
  const known = FOLDED.get(words);
  if (known !== undefined) return known;
  const folded = words.map((word) => word.normalize("NFKC"));
  FOLDED.set(words, folded);
  return folded;
}

/** Names of numbers that belong to things: what stands behind one of them is none of a person. */
const THINGS = new RegExp(
  [
    // The name, in several languages, and words for "number" around it.
    "(?:\\b(?:serial|order|invoice|ticket|issue|version|release|firmware|build|section|chapter|paragraph|page|figure|table|isbn|issn|gtin|ean|upc|asin|sku|batch|lot|part|item|model|article|tracking|parcel|pallet|container|commit|checksum|revision|error|port|gate|meeting|epoch|offset|bestellung|bestellnummer|auftrag|auftragsnummer|rechnung|rechnungsnummer|seriennummer|artikelnummer|ersatzteil|ersatzteilnummer|bauteil|materialnummer|spare part|pièce|pièce détachée|pieza|repuesto|recambio|ricambio|codice ricambio|peça|onderdeel|onderdeelnummer|artikel|teilenummer|sendung|sendungsnummer|commande|facture|série|serie|colis|article|pedido|factura|artículo|kapitel|abschnitt|chapitre|capítulo|capitolo|versión|versione|versão|mise à jour|actualización|aktualisierung|ordine|fattura|bestelling|factuur)(?: (?:no|nr|num|number|id|code|is|was|n°|nº|núm|#)\\.?)*[\\s.:#(\"']*)$",
    // Versions that something moves between, and amounts.
    "\\b(?:upgrad|updat|downgrad|migrat)\\w{0,4}(?: [\\w.-]{1,30}){0,3} (?:from|to) v?$",
    "\\b(?:total|sum|amount|credit|loan|balance|budget|price|cost|volume|size|length) of $",
  ].join("|"),
);
/** Units and things that people count: a number before one of them is a quantity. */
const COUNTED =
  /^ (?:times|(?:milli|micro|nano)?seconds?|minutes?|hours?|days?|weeks?|months?|years?|ms|ns|[kmgt]i?b|bytes?|bits?|rows?|records?|lines?|users?|people|visitors?|viewers?|players?|tickets?|messages?|requests?|queries|calls|downloads?|installs?|views|clicks|impressions|hits|items|pieces|units?|samples|slices|points|steps|events|tests|iterations|operations|cycles|tokens|parameters|euros?|eur|dollars?|usd|pounds?|gbp|yen|rupees?|inr|francs?|chf|km|mm|cm|kg|litres?|liters?|tonnes?|tons|watts?)(?![a-z\d])/;

/** True when the words right before a match name a thing: `serial number`, `version`. */
export function namesThing(lowered: string, start: number): boolean {
  return THINGS.test(lowered.slice(Math.max(0, start - 60), start));
}

/** True when what stands behind a match makes it a quantity: `536228726 users`. */
export function isQuantity(lowered: string, end: number): boolean {
  return COUNTED.test(lowered.slice(end, end + 20));
}

/** True for blank-separated digits that go on before or behind: numbers of a row, not groups of one. */
export function isPartOfRow(text: string, start: number, end: number): boolean {
  if (!/\d \d/.test(text.slice(start, end))) return false;
  return /\d $/.test(text.slice(Math.max(0, start - 2), start)) || /^ \d/.test(text.slice(end, end + 2));
}

/** True when the window holds the word. */
function holds(window: string, word: string): boolean {
  for (let at = window.indexOf(word); at >= 0; at = window.indexOf(word, at + 1)) {
    if (word.length >= 6 || isUnspaced(word.charCodeAt(0))) return true;
    // `ring` is in `string` and `plate` in `template`, but `phonenumber` begins with `phone`.
    const begins = !isWordChar(window.charCodeAt(at - 1));
    if (begins && (word.length >= 4 || !isWordChar(window.charCodeAt(at + word.length)))) return true;
  }
  return false;
}

/** Scripts that put no blanks between words (Thai to Hangul): a word counts wherever it stands. */
function isUnspaced(code: number): boolean {
  return code >= 0x2e80 || (code >= 0x0e00 && code < 0x1100);
}

function isWordChar(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || code > 127;
}

function lastWords(text: string, count: number): string {
  let at = text.length;
  for (let seen = 0; seen <= count && at > 0; ) {
    const blank = text.lastIndexOf(" ", at - 1);
    at = Math.max(0, blank);
    if (blank < 0) return text;
    seen++;
    if (seen > count) return text.slice(blank);
  }
  return text;
}

function firstWords(text: string, count: number): string {
  let at = 0;
  for (let seen = 0; seen <= count; seen++) {
    const blank = text.indexOf(" ", at + 1);
    if (blank < 0) return text;
    at = blank;
  }
  return text.slice(0, at);
}
