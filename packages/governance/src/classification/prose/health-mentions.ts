import { partitionPoint } from "../../partition-point.ts";
import { EVERYDAY_HEALTH } from "./everyday-health.ts";
import { ILLNESS_PHRASES, QUALIFIERS } from "./health-lexicon.ts";
import { isDrug, isIllness } from "./health-words.ts";
import { unelided, type Word, wordsIn } from "./words.ts";

/** A place that speaks of somebody's health, with what qualifies it: `stage III breast cancer`, `metoprolol 50 mg twice daily`. */
export interface HealthMention {
  readonly rule: "illness" | "drug" | "laboratory";
  readonly start: number;
  readonly end: number;
  /** Index of the word at which it stands. */
  readonly at: number;
}

const setOf = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Parts of the body and what belongs to them, in seven languages. */
const BODY = setOf(
  `head heart lung lungs liver kidney kidneys bowel bowels stomach tummy belly abdomen abdominal back chest breast neck knee knees hip hips shoulder shoulders ankle ankles wrist wrists elbow elbows foot feet hand hands leg legs arm arms finger fingers thumb toe toes eye eyes
  ear ears throat tooth teeth gum gums skin spine spinal disc disk discs bladder prostate ovary ovaries ovarian womb uterus uterine cervical pelvic pelvis bone bones joint joints muscle muscles tendon ligament nerve nerves rib ribs collarbone femur brain blood jaw gallbladder pancreas pancreatic renal cardiac
  hepatic pulmonary respiratory lumbar sinus tonsils appendix spleen thyroid retina retinal cornea vein veins artery coronary valve meniscus cartilage achilles rotator cuff groin testicle testicular penis vagina vaginal vocal eating panic anxiety mood sleep personality bipolar obsessive stress attachment menstrual nut peanut latex
  coeur poumon poumons foie rein reins estomac ventre poitrine sein seins dos cou genou genoux hanche epaule cheville poignet coude pied pieds main mains jambe jambes bras doigt oeil yeux oreille oreilles gorge dent dents peau colonne vertebrale vessie prostate ovaire ovaires uterus os articulation nerf cote cerveau sang colon intestin pancreas larynx thyroide tete
  corazon pulmon pulmones higado rinon rinones estomago barriga pecho mama mamas espalda cuello rodilla cadera hombro tobillo muneca codo pie pies mano manos pierna piernas brazo dedo ojo ojos oido oidos garganta muela muelas diente piel columna vejiga ovario ovarios utero hueso huesos cerebro sangre colon intestino tiroides cabeza prostata
  cuore polmone polmoni fegato rene reni stomaco pancia petto seno schiena collo ginocchio anca spalla caviglia polso gomito piede piedi gamba gambe braccio dito occhio occhi orecchio orecchie gola pelle vescica ovaie ossa osso cervello sangue testa tiroide
  coracao pulmao figado rim rins peito costas pescoco joelho quadril anca ombro tornozelo pulso cotovelo pe mao perna pernas braco olho olhos ouvido ouvidos pele bexiga osso ossos cabeca
  hart long longen lever nier nieren maag buik borst rug nek knie heup schouder enkel pols elleboog voet been oog oor keel tand huid blaas
  herz lunge leber niere magen darm brust rucken nacken hufte schulter knochel ellbogen fuss bein auge augen ohr hals zahn haut blase`,
);
/** Behind a part of the body in English. */
const COMPLAINT = setOf(
  "pain pains ache aches failure disease diseases infection infections attack attacks stone stones problem problems trouble surgery operation transplant replacement injury injuries condition disorder disorders tumour tumor cancer swelling bleed bleeding clot clots spasm spasms cramps strain sprain tear defect murmur lump lumps nodule bypass biopsy ulcer abscess numbness weakness palsy fracture rupture thrombosis graft allergy removed",
);
/** In front of one. */
const HURT = setOf(
  "broken fractured torn ruptured sprained dislocated swollen slipped herniated prolapsed infected burst collapsed numb bad frozen twisted arthritic pulled broke hurt tore injured strained gebrochener gebrochenes gebrochene gebrochenen gebrochen gebroken",
);
const OWNED = setOf("my his her their the left right lower upper il la le sa son ma mon su mi");
/** Before a part of the body in the languages that come of Latin, and the adjectives of organs there. */
const COMPLAINT_OF =
  /^(?:dolor(?:es)?|douleurs?|mal|maux|dor|dores|dolore|dolori|insuf+ic?i?enci?[ae]|insuf+isance|insufficienza|insuficiencia|scompenso|crise|crisis|ataque|attacco|infec[ct]?(?:ion|ao)|infezione|fra[ct]?tura|fracture|frattura|operac(?:ion|ao)|operation|operazione|cirugia|chirurgia|cirurgia|chirurgie|tra(?:n)?splante|trapianto|greffe|problem(?:as?|es?|i)|enfermedad|maladie|malattia|doenca|les(?:ion|ione|ao)|tra(?:n)?storno|troubles?|disturb[oi]|tumeur|tumore?|cancer|cancro|calcul(?:s|os)|calcoli|hemorragi[ea]|emorragia|inflama(?:cion|cao)|prothese|protesis|protesi|protese)$/;
const LINK = setOf(
  "de del de la d' di da do dos das du des della dello dei al a au aux alla allo nel nella en el no na os le les il lo l'",
);
const OF_ORGAN =
  /^(?:cardia(?:que|co|ca|c[ao]s)|renale?s?|renaux|hepati(?:que|co|ca)|pulmona(?:ire|r)|polmonare|thoraci(?:que|co|ca)|toraci(?:co|ca)|abdomina(?:le?|ux)|addominale|lombaires?|lumbar|lombar|cervicales?|cerebrale?|gastri(?:que|co|ca)|urinaria?|urinaire|respiratori[oa]|respiratoire|articula(?:ire|r)|articolare|muscula(?:ire|r)|muscolare|osseuse?|ose[oa]|ossea|mental(?:e|es)?|psichic[ao]|psiquic[ao]|psychiques?|bipolar|bipolaire|bipolare|alimentari[aeo]?s?|alimentaires?|anxieux|depresiv[ao]|depressivo|visual|digestifs?|digestiv[ao]s?)$/;
/** Names of illnesses after this word, and, in English, before it. */
const NAMED = /^(?:disease|syndrome|disorder|syndroom|morbus|sindrome|maladie|enfermedad|malattia|doenca|trastorno|transtorno)$/;
const NAMED_IN_FRONT = /^(?:disease|syndrome|disorder|syndroom)$/;
const NO_NAME = setOf(
  "the a an of and or this that any some his her my your their its our no such what which with for from other another new same infectious health this le la une un il lo de el una das der die den het een is was as has had to in on than then these those each every more most if when where cause causes caused by one per woman man",
);
/** What stands behind the name of an illness and belongs to it. */
const BEHIND =
  /^(?:mellitus|multiple|multiplex|multipl[ao]|chroni(?:c|que|sch)|cronic[oa]|kronisk|acute?|aigue?|agud[oa]|acut[oa]|akut|grave|sever[eao]|leve|gestacional|gestazionale|gestationnel|rhumatoide|reumatoide|nerv(?:osa|euse)|major|maggiore|recurrente|ricorrente|relapsing|tremens|vulgaris|simplex|zoster|tuberosa|postparto|postpartum)$/;
const STAGE =
  "(?:type|typ|tipo|stage|grade|stadium|stade|stadio|estadio|grad|grado|classe?|nyha) ?(?:\\d\\p{L}?|[IV]{1,3}[abcABC]?)";
const STAGE_BEFORE = new RegExp(`(?<!\\p{L})${STAGE} $`, "iu");
const STAGE_BEHIND = new RegExp(`,? \\(?${STAGE}(?![\\p{L}\\d])\\)?`, "iuy");
const OF_BODY = / (?:of|in) (?:the |his |her |my )?(?:left |right )?(\p{L}+)/uy;
const DOSE =
  /,? ?\d{1,5}(?:[.,]\d{1,3})? ?(?:mg|g|[µμ]g|mcg|ug|ml|iu|ie|ui|i\.e\.|units?|einheiten|eenheden|%|mmol|hub|puffs?|tabs?|tablets?|tabletten|comprim(?:é|e|ido)s?|compress[ae]|gtt)(?:\/\p{L}{1,5})?(?![\p{L}\d])/iuy;
const HOW_OFTEN =
  /,? ?(?:\d-\d-\d(?:-\d)?|(?:once|twice|three times|\d ?x)(?: (?:a|per|pro|par|al|ao|por) \p{L}+| daily| weekly| täglich)?|(?:daily|nightly|weekly|monthly|od|bd|b\.?i\.?d|t\.?i\.?d|tds|q\.?i\.?d|qds|qd|prn|po|iv|im|sc|at night|in the morning|every \d+ hours|(?:a|per|pro|par|al|ao|por) (?:day|tag|jour|d[ií]a|giorno|dag)|täglich|abends|morgens))(?![\p{L}\d])\.?/iuy;

// --- What laboratories measure: common tests of LOINC, and the units that only they use.

const UNIT =
  "(?:mg\\/d[lL]|g\\/d[lL]|mg\\/[lL]|g\\/[lL]|[mµμnup]mol\\/[lL]|mmol\\/mol|ng\\/m[lL]|pg\\/m[lL]|[µμu]g\\/[mdlL]{1,2}|ng\\/[dlL]{1,2}|m?[iI]?[uU]\\/m?[lL]|m[lL]\\/min(?:\\/1[.,]73 ?m[2²])?|mm ?[hH]g|[mM][eE]q\\/[lL]|\\/[µμun][lL]|cells(?:\\/[µμum]+[lL³3]?)?|copies(?:\\/m[lL])?|bpm)";
const VALUE = new RegExp(`(?<![\\d.,/-])[<>]?\\d{1,6}(?:[.,]\\d{1,3})?(?: ?\\/ ?\\d{2,3})? ?${UNIT}(?![\\p{L}\\d])`, "gu");
/** What stands between the name of a test and its number: whose it is, and what came out. */
const SAYS_RESULT =
  "count|score|level|levels|value|of|is|was|at|came|back|still|only|up|down|to|now|today|yesterday|dropped|rose|reached|Wert|auf|bei|von|lag|liegt|war|ist|ergab|heute|de|del|di|da|a|à|al|em|en|era|é|è|está|estaba|foi|deu|dela|dele|veio|salió|salio|dio|subió|bajó|est|était|sort|jeun|ayunas|digiuno|jejum|risulta|risultata|uscita|uit|kwam|op|van|hers|his|her|:|=";
/** Tests whose numbers say what they are without a unit, and how they look. */
const TEST = new RegExp(
  `(?<![\\p{L}\\d])(?:(?:HbA1c|A1c|PSA|CD4|CD8|eGFR|GFR|INR|TSH|fT4|BMI|LDL|HDL|CRP|BNP|AFP|CEA|CA ?125|CA ?19-9|GGT|ALT|AST|GPT|GOT|PHQ-?9|GAD-?7|MMSE|MoCA|GCS|SpO2|FEV1|Hb|Ferritin|Troponin|D-dimer|viral load|Viruslast|LVEF|EF|APGAR|Apgar)(?: (?:${SAYS_RESULT})){0,4}:? ?=?(?<number> ?[<>]?\\d{1,5}(?:[.,]\\d{1,2})?)(?: ?%| ?${UNIT})?|(?:BP|RR|TA|PA|blood pressure|Blutdruck|tension|tensi[oó]n(?: arterial)?|pressione|press[aã]o|tens[aã]o(?: arterial)?|bloeddruk)(?: (?:of|is|was|at|auf|bei|von|de|di|a|à|arterial|arteriosa|:|=)){0,3}:? ?(?<pressure>[12]?\\d{2} ?\\/ ?[1]?\\d{2})(?: ?mm ?[hH]g)?)(?![\\p{L}\\d/])`,
  "gu",
);

/** The same by words, which stand for food too: then with the unit of a laboratory, or with none. */
const TEST_WORD = new RegExp(
  `(?<![\\p{L}\\d])(?:[Hh](?:a?e|ä)moglobin\\p{L}?|[HhEe]?[eé]?moglobina|[Hh]émoglobine|[Ff]erritin[ae]?|[CcKk]r[eé]atinin[ae]?|[Gg]lu[ck]os[ae]|[Gg]l[iy]c[eé]mi[ae]|[Gg]lucemia|[Bb]lutzucker|[Bb]loedsuiker|[Bb]lood sugar|[Cc]olesterolo?|[Cc]holest[eé]rol|[Cc]holesterin|[Tt]roponin[ae]?|[Bb]ilirr?ubin[ae]?|[Pp]latelets?|[Tt]hrombozyten|[Pp]laquettes|[Pp]laquetas|[Pp]iastrine|[Ll]eu[ck]o[cz]yte[ns]?|[Tt]riglycerides?|[Tt]riglic[eé]rid[oi]s?|[Uu]ric acid|[Hh]arnsäure)(?: (?:${SAYS_RESULT})){0,4}:? ?=?(?<number> ?[<>]?\\d{1,5}(?:[.,]\\d{1,2})?)(?! ?(?:m?g|kg|kcal|kJ|ml|cl|l)(?![\\p{L}\\/])|[.,]?\\d)(?: ?%| ?${UNIT})?(?![\\p{L}\\d/])`,
  "gu",
);

const ILL = 1;
const DRUG = 2;
const PHRASE = 4;
const PART = 8;
const TROUBLE = 16;
const HARM = 32;
const TROUBLE_OF = 64;
const NAME = 128;

const phrases = new Map<string, string[][]>();
for (const phrase of [...ILLNESS_PHRASES.split("|"), ...EVERYDAY_HEALTH.trim().split(/[|\n]/)]) {
  const [first = "", ...rest] = phrase.split(" ");
  if (rest.length === 0) continue;
  const known = phrases.get(first);
  if (known === undefined) phrases.set(first, [rest]);
  else known.push(rest);
}
for (const known of phrases.values()) known.sort((a, b) => b.length - a.length);
const qualifiers = setOf(QUALIFIERS);

/** What words were found to be: texts say the same few thousand words again and again. Begun anew when full. */
let kinds = new Map<string, number>();
const KINDS = 8192;
const LONGEST_WORD = 40;

function kindOf(written: string): number {
  const known = kinds.get(written);
  if (known !== undefined) return known;
  const plain = unelided(written).replace(/'s$/, "");
  let kind = phrases.has(written) ? PHRASE : 0;
  if (plain.length > 2) {
    if (isIllness(plain)) kind |= ILL;
    if (isDrug(plain)) kind |= DRUG;
    if (COMPLAINT_OF.test(plain)) kind |= TROUBLE_OF;
    if (NAMED.test(plain)) kind |= NAME;
    if (HURT.has(plain)) kind |= HARM;
    if (COMPLAINT.has(plain)) kind |= TROUBLE;
  }
  if (BODY.has(plain)) kind |= PART;
  if (kinds.size >= KINDS) kinds = new Map();
  kinds.set(written, kind);
  return kind;
}

/**
 * Illnesses, symptoms, operations, drugs with their doses and values of tests that a text names, in order, none within another. Whether anybody has them is not asked here.
 * Takes time linear in the text.
 */
export function healthIn(text: string, words: readonly Word[]): readonly HealthMention[] {
  const found: HealthMention[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as Word;
    if (word.plain.length > LONGEST_WORD || word.code) continue;
    const kind = kindOf(word.plain) | (word.capitals ? shortFor(words, at) : 0);
    if (kind === 0) continue;
    const last = lastOf(words, at, kind);
    if (last === -1) continue;
    const rule = (kind & (DRUG | ILL)) === DRUG && last === at ? "drug" : "illness";
    const [first, end] = rule === "drug" ? [at, dosed(text, words[last]?.end ?? word.end)] : widened(text, words, at, last);
    const start = (words[first] as Word).start;
    found.push({ rule, start: rule === "illness" ? staged(text, start) : start, end, at });
    while (at + 1 < words.length && (words[at + 1] as Word).start < end) at++;
  }
  return measured(text, words, found);
}

/** Illnesses as people shorten them in capitals (MeSH's entry terms), in seven languages. */
const SHORT = setOf(
  "ibs ibd ocd pcos dvt uti utis ckd chf sle bpco epoc dpoc tdah toc ptss pots mnd copd als gerd gord afib nafld pkd bph cfs tia stemi nstemi mrsa bppv pms pmdd stds sti stis vih irc itu hta dm2 t1d t2d khk pavk ",
);
/** The same that are short for more: behind a verb of having, and before no other capital. */
const SHORT_FOR_MORE = setOf("ms ra cf tb pe af mi bpd acl ed als asd hs lbp dm ad mci tbi msk");
const HAVING = setOf(
  "has have had with got gets hx having torn suspected possible hat haben hatte mit an avec a con tiene ha com tem met heeft suffers relapsing",
);

function shortFor(words: readonly Word[], at: number): number {
  const { plain } = words[at] as Word;
  if (SHORT.has(plain)) return ILL;
  const [before, next] = [words[at - 1], words[at + 1]];
  if (!SHORT_FOR_MORE.has(plain) || !joined(words[at], before ?? (words[at] as Word)) || !HAVING.has(before?.plain ?? ""))
    return 0;
  return next !== undefined && next.gap === " " && (next.capitalised || next.capitals) ? 0 : ILL;
}

/** Longest value that is looked at as a name and not as a text. */
const LONGEST_NAME = 120;

/** True for a text that is the name of an illness or a drug and hardly anything else, as a field of a record holds it: `Type 2 diabetes mellitus`. */
export function isHealthName(text: string): boolean {
  if (text.length > LONGEST_NAME || !/\p{L}{3}/u.test(text)) return false;
  const named = healthIn(text, wordsIn(text)).reduce((sum, { start, end }) => sum + end - start, 0);
  return named > text.trim().length / 2;
}

/** Of one sentence, and with nothing but a blank between. */
const joined = (word: Word | undefined, before: Word): word is Word =>
  word !== undefined && word.sentence === before.sentence && /^(?: |-|['’] )$/.test(word.gap) && !word.code;

/** Index of the last word of what begins at this one; -1 where nothing does. */
function lastOf(words: readonly Word[], at: number, kind: number): number {
  const word = words[at] as Word;
  if ((kind & PHRASE) !== 0) {
    for (const rest of phrases.get(word.plain) ?? []) {
      let i = 0;
      while (i < rest.length && joined(words[at + i + 1], words[at + i] as Word) && words[at + i + 1]?.plain === rest[i]) i++;
      if (i === rest.length) return at + i;
    }
  }
  const next = words[at + 1];
  const beside = joined(next, word) ? kindOf(next.plain) : 0;
  if ((kind & PART) !== 0 && (beside & TROUBLE) !== 0) return at + 1;
  if ((kind & HARM) !== 0) {
    let i = at + 1;
    while (i < at + 3 && joined(words[i], words[i - 1] as Word) && OWNED.has(words[i]?.plain ?? "")) i++;
    if (joined(words[i], words[i - 1] as Word) && (kindOf(words[i]?.plain ?? "") & PART) !== 0)
      return joined(words[i + 1], words[i] as Word) && (kindOf(words[i + 1]?.plain ?? "") & PART) !== 0 ? i + 1 : i;
  }
  if ((kind & TROUBLE_OF) !== 0) {
    let i = at + 1;
    while (i < at + 3 && joined(words[i], words[i - 1] as Word) && LINK.has(words[i]?.plain ?? "")) i++;
    const part = words[i];
    if (part !== undefined && joined(part, words[i - 1] as Word)) {
      const plain = unelided(part.plain);
      if (i > at + 1 || plain !== part.plain ? BODY.has(plain) : OF_ORGAN.test(plain)) return i;
    }
  }
  if ((kind & NAME) !== 0) {
    const before = words[at - 1];
    if (NAMED_IN_FRONT.test(word.plain) && before !== undefined && joined(word, before) && !NO_NAME.has(before.plain)) return at;
    if (!NAMED_IN_FRONT.test(word.plain) || word.plain === "syndrome") {
      // `síndrome del intestino irritable`, `maladie valvulaire`: up to two words that are no function words.
      let i = at + 1;
      while (i < at + 3 && joined(words[i], words[i - 1] as Word) && LINK.has(words[i]?.plain ?? "")) i++;
      const linked = i > at + 1;
      if (isTelling(words[i], words[i - 1] as Word) && (linked || ADJECTIVE.test(words[i]?.plain ?? "")))
        return isTelling(words[i + 1], words[i] as Word) && ADJECTIVE.test(words[i + 1]?.plain ?? "") ? i + 1 : i;
    }
    const i = joined(next, word) && /^(?:de|di|von|van|del|da)$/.test(next.plain) ? at + 2 : at + 1;
    if (joined(words[i], words[i - 1] as Word) && words[i]?.capitalised === true && !/^d(?:isease|isorder)$/.test(word.plain))
      return i;
  }
  return (kind & (ILL | DRUG)) === 0 ? -1 : at;
}

/** Adjectives of the languages that come of Latin. */
const ADJECTIVE =
  /(?:aire?s?|al|ale|aux|ica?s?|ico|iques?|euse|eux|os[oa]|iv[oae]s?|ile?s?|elle|ienne|ana|ente|ante|[ai]bles?|ar|are|ad[oa]|id[oa])$/;

function isTelling(word: Word | undefined, before: Word): word is Word {
  return (
    word !== undefined && word.plain.length > 3 && joined(word, before) && !NO_NAME.has(word.plain) && !OWNED.has(word.plain)
  );
}

/** With the words before it and behind it that say which illness it is: index of the first word, and where the last one ends. */
function widened(text: string, words: readonly Word[], at: number, last: number): readonly [number, number] {
  let first = at;
  while (first > 0 && at - first < 5) {
    const [word, before] = [words[first] as Word, words[first - 1] as Word];
    if (!joined(word, before) || before.code) break;
    if (!qualifiers.has(before.plain) && !BODY.has(before.plain) && !NAMED_IN_FRONT.test(word.plain)) break;
    if (NO_NAME.has(before.plain) || (before.capitals && /^[ivx]+$/.test(before.plain))) break;
    first--;
  }
  let to = last;
  for (let i = last + 1; i < last + 3; i++) {
    const word = words[i];
    if (word === undefined || !joined(word, words[i - 1] as Word)) break;
    if (BEHIND.test(word.plain) || OF_ORGAN.test(word.plain) || ((kindOf(word.plain) & ILL) !== 0 && i === last + 1)) to = i;
    else break;
  }
  if (to === last) {
    let i = last + 1;
    while (i < last + 3 && joined(words[i], words[i - 1] as Word) && LINK.has(words[i]?.plain ?? "")) i++;
    const part = words[i];
    if (
      part !== undefined &&
      joined(part, words[i - 1] as Word) &&
      (i > last + 1 || part.plain.includes("'")) &&
      BODY.has(unelided(part.plain))
    )
      to = i;
  }
  let end = (words[to] as Word).end;
  OF_BODY.lastIndex = end;
  const of = OF_BODY.exec(text);
  if (of !== null && BODY.has((of[1] ?? "").toLowerCase())) end += of[0].length;
  STAGE_BEHIND.lastIndex = end;
  return [first, end + (STAGE_BEHIND.exec(text)?.[0].length ?? 0)];
}

function staged(text: string, start: number): number {
  const from = Math.max(0, start - 20);
  return start - (STAGE_BEFORE.exec(text.slice(from, start))?.[0].length ?? 0);
}

function dosed(text: string, behind: number): number {
  let end = behind;
  DOSE.lastIndex = end;
  const dose = DOSE.exec(text);
  if (dose === null) return end;
  end += dose[0].length;
  for (let i = 0; i < 3; i++) {
    HOW_OFTEN.lastIndex = end;
    const often = HOW_OFTEN.exec(text);
    if (often === null) break;
    end += often[0].length;
  }
  return end;
}

/** With the values of tests, where a text has digits. */
function measured(text: string, words: readonly Word[], named: readonly HealthMention[]): readonly HealthMention[] {
  if (!/\d/.test(text) || words.length === 0) return named;
  const found = [...named];
  for (const pattern of [VALUE, TEST, TEST_WORD]) {
    for (const { 0: written, index, groups } of text.matchAll(pattern)) {
      if (pattern !== VALUE && groups?.["number"] === undefined && groups?.["pressure"] === undefined) continue;
      const start = index + written.length - written.trimStart().length;
      const at = Math.max(0, partitionPoint(words, (word) => word.start <= start) - 1);
      found.push({ rule: "laboratory", start, end: index + written.length, at });
    }
  }
  if (found.length === named.length) return named;
  found.sort((a, b) => a.start - b.start || b.end - a.end);
  const apart: HealthMention[] = [];
  for (const mention of found) {
    const before = apart[apart.length - 1];
    if (before === undefined || mention.start >= before.end) apart.push(mention);
    else if (mention.end > before.end) apart[apart.length - 1] = { ...before, end: mention.end };
  }
  return apart;
}
