import { BRANDS, BRANDS_AT, COMPANIES, INSTITUTIONS } from "./companies.ts";
import { isFamilyName, isGivenName, type ProseSpan } from "./persons.ts";
import { unelided, type Word } from "./words.ts";

/** Forms of law behind a name, and institutions by the word for their kind. */
const BEHIND =
  /^(?:inc|corp|corporation|ltd|limited|llc|llp|plc|gmbh|ag|kg|kgaa|ohg|ug|mbh|sarl|sas|sasu|eurl|srl|srls|spa|bv|nv|lda|ltda|eireli|oy|oyj|ab|aps|kft|zrt|doo|eood|ood|sdn|bhd|pty|pte|gruppe|group|holdings|bank|university|hospital|college|school|nursery|kindergarten|universitat|klinik|klinikum|universite|hopital|universidad|universita|ospedale|universiteit|universitesi|hastanesi|practice|clinic|surgery|pharmacy|institute|foundation|trust|council|ministry|academy|airlines|airways|logistics|brewery|bakery|laboratories|pharmaceuticals|consulting|apotheke|sparkasse|stadtwerke|versicherung|sjukhus|universitet)$/;
/** The same with stops or strokes between, or behind a comma: `S.A.R.L.`, `A/S`, `Sp. z o.o.`, `, Lda.`. */
const DOTTED =
  /^(?:,? (?:S\.?(?:A\.R\.L|A\.S|A|L\.U|L|r\.l\.s|r\.l|p\.A|C)\.?|B\.V\.|N\.V\.|V\.O\.F\.|A\/S|A\.Ş\.|OÜ|Sp\. ?z ?o\. ?o\.|s\.r\.o\.|a\.s\.|d\.o\.o\.|e\.\s?V\.|K\.K\.)|, (?:Inc|Ltd|LLC|LLP|PLC|GmbH|AG|Lda|Ltda|Corp|Co|SRL|SpA|BV|AB|Oy|Kft)\b\.?)(?![\p{L}\d])/u;
/** Forms of law that stand before the name, in capitals. */
const BEFORE = /^(?:pt|ooo|oao|zao|pao|too|uab|sia|ab|sarl|sas|sasu|eurl|sci|snc|scop|jsc|ojsc|ets)$/;
/** Kinds that stand before the name: `Universität Heidelberg`, `Ministerio de Sanidad`. */
const KINDS =
  /^(?:universitat|universite|universidad|universidade|universita|universiteit|uniwersytet|hochschule|klinikum|klinik|krankenhaus|hopital|hospital|ospedale|clinica|clinique|ministry|ministere|ministerio|ministero|bundesministerium|ministerium|banco|banque|banca|sparkasse|volksbank|raiffeisenbank|stadtwerke|apotheke|firma|ditta|maison|cabinet|gebruder|impresa|empresa|mairie|landratsamt|finanzamt|jobcenter|szpital|bank|department|university|college|institute)$/;
/** Of those the ones that are the thing itself unless `of` or the like follows. */
const OF = /^(?:de|du|des|der|di|da|do|del|della|dell|dos|das|of|for|fur|la|el|le|the|van|voor|w|im)$/;
const OF_ONLY = /^(?:ministry|university|bank|department|college|institute|hospital|bundesministerium)$/;

/** Companies by their form of law on either side or by a name that is known, institutions by the word for their kind. */
export function organisationsIn(text: string, words: readonly Word[]): ProseSpan[] {
  const found: ProseSpan[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i];
    if (word === undefined || word.code || !(word.capitalised || word.capitals)) continue;
    const end = organisationFrom(text, words, i);
    if (end === undefined) continue;
    found.push({ entity: "ORGANIZATION", rule: end.rule, start: word.start, end: end.at });
    while (i + 1 < words.length && (words[i + 1]?.start ?? 0) < end.at) i++;
  }
  return found;
}

const isCapital = (word: Word | undefined): word is Word => word !== undefined && (word.capitalised || word.capitals);

function organisationFrom(
  text: string,
  words: readonly Word[],
  from: number,
): { readonly rule: string; readonly at: number } | undefined {
  const word = words[from] as Word;
  const next = words[from + 1];
  let last = from;
  while (last < from + 5 && /^ $|^ & $/.test(words[last + 1]?.gap ?? "") && isCapital(words[last + 1])) last++;
  if (
    word.capitals &&
    BEFORE.test(word.plain) &&
    next?.gap === " " &&
    isCapital(next) &&
    last > from &&
    !(word.plain === "pt" && isGivenName(next.plain))
  )
    return { rule: "form of law before", at: words[Math.min(last, from + 3)]?.end ?? word.end };
  for (let at = last; at > from; at--) {
    const form = words[at];
    // `Ticket INC0045512`
    if (form !== undefined && BEHIND.test(form.plain) && !form.code) return { rule: "form of law", at: form.end };
  }
  const lastEnd = words[last]?.end ?? word.end;
  const dotted = DOTTED.exec(text.slice(lastEnd, lastEnd + 14));
  if (dotted !== null) return { rule: "form of law", at: lastEnd + dotted[0].length };
  if (KINDS.test(word.plain) && word.capitalised) {
    let at = from + 1;
    while (at < from + 4 && words[at]?.gap === " " && OF.test(words[at]?.plain ?? "")) at++;
    const name = words[at];
    const of = at > from + 1;
    if (
      name !== undefined &&
      (name.gap === " " || /^ ?l['’]$/.test(name.gap)) &&
      name.capitalised &&
      (of || !OF_ONLY.test(word.plain)) &&
      !(name.plain === "of")
    ) {
      let to = at;
      while (to < at + 2 && words[to + 1]?.gap === " " && isCapital(words[to + 1])) to++;
      return { rule: "institution", at: words[to]?.end ?? name.end };
    }
  }
  for (const length of [4, 3, 2]) {
    const name = words.slice(from, from + length);
    if (
      name.length === length &&
      name.every((w, at) => at === 0 || w.gap === " " || /^ [ld]['’]$/.test(w.gap)) &&
      INSTITUTIONS.has(name.map(({ plain }) => unelided(plain)).join(" "))
    )
      return { rule: "international institution", at: name.at(-1)?.end ?? word.end };
  }
  const before = words[from - 1];
  if (
    word.capitalised &&
    word.gap === " " &&
    BRANDS_AT.has(word.plain) &&
    /^(?:at|by|from|bei|von|chez|presso|em|na|bij)$/.test(before?.plain ?? "") &&
    !isCapital(next)
  )
    return { rule: "known company", at: word.end };
  for (let length = 3; length > 0; length--) {
    const name = words.slice(from, from + length);
    if (name.length < length || name.some((w, at) => at > 0 && !/^(?: |-| & )$/.test(w.gap))) continue;
    const plain = name.map(({ plain }) => plain).join(" ");
    if (length > 1 ? COMPANIES.has(plain) : COMPANIES.has(plain.replace("-", " ")) || (BRANDS.has(plain) && !isCapital(next)))
      return { rule: "known company", at: name.at(-1)?.end ?? word.end };
  }
  // `Johnson & Johnson`, `Marks & Spencer`; two given names are two people.
  if (
    next?.gap === " & " &&
    isCapital(next) &&
    (next.plain === word.plain || (isFamilyName(word.plain) && isFamilyName(next.plain))) &&
    !(isGivenName(word.plain) && isGivenName(next.plain))
  )
    return { rule: "two names", at: next.end };
  return undefined;
}
