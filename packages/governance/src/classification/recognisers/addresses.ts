import type { Recogniser } from "../search/recogniser.ts";

const word = "\\p{Lu}[\\p{L}\\p{M}'’-]{1,30}";

const context = [
  "address",
  "adresse",
  "anschrift",
  "dirección",
  "indirizzo",
  "live",
  "lives",
  "wohn",
  "habite",
  "住",
  "地址",
  "주소",
];

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

/** Streets with a house number, by the words for streets of English, German, Dutch, French, Spanish, Italian, Portuguese, Chinese, Japanese and Korean. */
export const addresses: readonly Recogniser[] = [
  street(
    /street|avenue|road|lane|drive|boulevard|court|terrace|crescent|highway|parkway|square|way|close|place|gardens|grove|row|hill|mews|walk|circle|trail|\b(?:st|ave|rd|ln|dr|blvd|ct|sq|pl|hwy|pkwy|ter)\b/i,
    "number, name, street",
    new RegExp(
      `(?<![\\p{L}\\d.,/-])\\d{1,5}[A-Za-z]? (?:(?:[NSEW]|[NS][EW]|North|South|East|West)\\.? )?(?:(?:St\\. )?${word} ){1,3}(?:Street|Avenue|Road|Lane|Drive|Boulevard|Court|Terrace|Crescent|Highway|Parkway|Square|Way|Close|Place|Gardens|Grove|Row|Hill|Mews|Walk|Circle|Trail|(?:St|Ave|Rd|Ln|Dr|Blvd|Ct|Sq|Pl|Hwy|Pkwy|Ter)\\b)(?![\\p{L}\\d])(?:,? (?:Apt|Apartment|Unit|Suite|Ste|Flat|#)\\.? ?\\d{1,5}[A-Za-z]?)?`,
      "gu",
    ),
  ),
  street(
    /stra(?:ß|ss)e|str\.|gasse|allee|weg|platz|ufer|damm|straat|laan|plein|gracht|kade|singel|dijk/i,
    "street and number",
    /(?<![\p{L}\d])\p{Lu}[\p{L}\p{M}-]{1,30}(?:straße|strasse|str\.|gasse|allee|weg|platz|ufer|damm|straat|laan|plein|gracht|kade|singel|dijk) \d{1,4} ?[a-z]?(?![\p{L}\d])/gu,
  ),
  street(
    /\b(?:am|an der|auf (?:dem|der)|im|in der|zum|zur|unter den|laan|weg|straat|plein) /i,
    "place and number",
    /(?<![\p{L}\d])(?:(?:Am|An de[rmn]|Auf de[rm]|Im|In de[rn]|Zum|Zur|Unter den) \p{Lu}[\p{L}\p{M}-]{3,30}|(?:Laan|Weg|Straat|Plein) van (?:de |den |het )?\p{Lu}[\p{L}\p{M}-]{2,30}) \d{1,3}[a-z]?(?![\p{L}\d:%-]|\.\d)/gu,
  ),
  street(
    /rue|avenue|boulevard|place|chemin|impasse|allée|allee|quai|cours|route|square/i,
    "number, street, name",
    new RegExp(
      `(?<![\\p{L}\\d.,/-])\\d{1,4}(?: ?(?:bis|ter))?,? (?:rue|avenue|boulevard|place|chemin|impasse|all[ée]{1,2}|quai|cours|route|square) (?:(?:de|du|des|la|le|les|l['’]|d['’]) ?){0,2}${word}(?: ${word}){0,2}`,
      "gu",
    ),
  ),
  street(
    /calle|avenida|avda|av\.|pza\.|v\.le|p\.zza|c\.so|via|viale|piazza|paseo|plaza|camino|carrera|ronda|c\/|corso|largo|vicolo|strada|rua|praça|praca|travessa|alameda|estrada/i,
    "street, name, number",
    new RegExp(
      `(?<![\\p{L}\\d])(?:[Cc]alle|C\\/|[Aa]venida|[Aa]vda\\.|[Aa]v\\.|[Pp]za\\.|V\\.le|P\\.zza|C\\.so|[Vv]ia|[Pp]iazza|[Vv]iale|[Pp]aseo|[Pp]laza|[Cc]amino|[Cc]arrera|[Rr]onda|[Cc]orso|[Ll]argo|[Vv]icolo|[Ss]trada|[Rr]ua|[Pp]raça|[Tt]ravessa|[Aa]lameda|[Ee]strada) (?:(?:de|del|della|dei|da|do|das|dos|di|la|las|los) ){0,2}${word}(?: (?:(?:de|del|della|da|do|das|dos|di|y|e) )?${word}){0,2},? (?:n[.º°] ?)?\\d{1,4}(?![\\p{L}\\d])`,
      "gu",
    ),
  ),
  street(
    /gatan|vägen|gränd|stigen|torget|allén|backen|gata|gaten|veien|vegen|gade|vej|stræde|katu/i,
    "Nordic: street and number",
    /(?<![\p{L}\d])\p{Lu}[\p{L}\p{M}-]{1,30}(?:gatan|vägen|gränden|stigen|torget|allén|backen|gata|gaten|veien|vegen|gade|vej|stræde|katu) \d{1,4} ?[A-Za-z]?(?![\p{L}\d])/gu,
  ),
  street(
    /\b(?:ul|al|pl|os)\.|ulica|aleja|osiedle/i,
    "Polish: street and number",
    new RegExp(
      `(?<![\\p{L}\\d])(?:(?:[Uu]l|[Aa]l|[Pp]l|[Oo]s)\\.|[Uu]lica|[Aa]leja|[Oo]siedle) ?${word}(?: ${word}){0,2} \\d{1,4}[A-Za-z]?(?:(?:/| m\\. ?)\\d{1,4})?(?![\\p{L}\\d])`,
      "gu",
    ),
  ),
  street(
    /sok|cad|bulvar/i,
    "Turkish: street and number",
    new RegExp(
      `(?<![\\p{L}\\d])${word}(?: ${word})? (?:Sok(?:ak|ağı)?|Cad(?:de|desi)?|Bulvarı)\\.?,? (?:[Nn]o\\.? ?:? ?)?\\d{1,4}(?![\\p{L}\\d])`,
      "gu",
    ),
  ),
  street(
    /flat|apartment|apt|unit/i,
    "flat, number, name",
    new RegExp(
      `(?<![\\p{L}\\d])(?:Flat|Apartment|Apt\\.?|Unit) \\d{1,4}[A-Za-z]?, \\d{1,5}[A-Za-z]? ${word}(?: ${word}){1,2}`,
      "gu",
    ),
  ),
  // By the words for administrative divisions and streets of each country's postal service, down to the number of the house.
  street(
    /[路街道巷弄胡同里村]\s?\d{1,5}.{0,6}号/,
    "Chinese: division, street, number",
    /(?:(?:(?![住在位于址为是])\p{Script=Han}){2,8}?(?:省|自治区|市|区|县|镇|乡)){0,4}(?:(?![住在位于址为是])\p{Script=Han}){1,8}(?:路|街|道|巷|弄|胡同|里|村)\s?\d{1,5}(?:弄\d{1,4})?号(?:院|[甲乙丙])?(?:\d{1,4}(?:号楼|栋|幢|座|单元|层|楼|室)){0,4}/gu,
  ),
  street(
    /[市区郡町村].{0,20}\d/,
    "Japanese: municipality, block, number",
    /(?:東京都|北海道|大阪府|京都府|\p{Script=Han}{2,3}県)?(?:(?![都道府県住所は])[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]){1,8}?[市区郡町村][\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]{0,16}?\d{1,4}(?:丁目 ?\d{1,4}(?:番地?|-) ?(?:\d{1,4}号?)?|番地? ?\d{1,4}号|番地|(?:-\d{1,4}){2,3}号?)(?![\d-])/gu,
  ),
  street(
    /[로길] ?\d/,
    "Korean: division, street, number",
    /(?:[가-힣]{1,8}(?:시|도|군|구|읍|면) ){1,4}[가-힣\d]{1,12}(?:로|길) ?\d{1,5}(?:-\d{1,4})?(?![\d-])/gu,
  ),
];

/** Positions in degrees: as decimals with three places or more, or with the quarter of the sky. */
export const positions: Recogniser = {
  entity: "GEO_LOCATION",
  patterns: [
    {
      name: "decimal degrees",
      regex: /(?<![\d.,-])-?(?:[0-8]?\d|90)\.\d{3,10}, ?-?(?:1[0-7]\d|0?\d?\d|180)\.\d{3,10}(?![\d.]\d|\d)/g,
      // The place of a tower is no secret, where somebody is may be one: only beside words that say so.
      score: 0.25,
    },
    {
      name: "degrees and quarter",
      regex:
        /(?<![\d.])\d{1,2}(?:\.\d{1,10})? ?°(?: ?\d{1,2}(?:\.\d{1,6})? ?['′’](?: ?\d{1,2}(?:\.\d{1,6})? ?["″”])?)? ?[NS],? ?\d{1,3}(?:\.\d{1,10})? ?°(?: ?\d{1,2}(?:\.\d{1,6})? ?['′’](?: ?\d{1,2}(?:\.\d{1,6})? ?["″”])?)? ?[EWO](?![\p{L}\d])/gu,
      score: 0.7,
    },
  ],
  context: [
    "latitude",
    "longitude",
    "coordinate",
    "gps",
    "geolocation",
    "i'm at",
    "i’m at",
    "i am at",
    "my ",
    "live",
    "home",
    "house",
    "door",
    "gate",
    "meet",
    "pick",
    "last seen",
    "wohn",
    "haus",
    "standort",
    "koordinaten",
    "coordonnées",
    "habite",
    "coordenadas",
    "vivo",
    "casa",
  ],
  prior: 0.6,
};
