import { isDrug, isIllness } from "./health-words.ts";
import { FIRST_NAMES, LAST_NAMES, PLACES, WORDLIKE_FIRST_NAMES, WORDLIKE_LAST_NAMES } from "./names.ts";
import { plainOf, type Word, wordsIn } from "./words.ts";

/** A place in the folded text, and the rule that found it. */
export interface ProseSpan {
  readonly entity: string;
  readonly rule: string;
  readonly start: number;
  readonly end: number;
}

const setOf = (text: string, separator = " "): ReadonlySet<string> => new Set(text.split(separator));
const FIRST = setOf(FIRST_NAMES);
const WORDLIKE_FIRST = setOf(WORDLIKE_FIRST_NAMES);
const LAST = setOf(LAST_NAMES);
const WORDLIKE_LAST = setOf(WORDLIKE_LAST_NAMES);
const PLACE = setOf(PLACES, "|");
const PLACE_STARTS = new Set([...PLACE].map((place) => place.split(" ", 1)[0] ?? ""));

/** Whether a word of a text is a given name that is hardly anything else. */
export function hasGivenName(text: string): boolean {
  return wordsIn(text).some(({ plain }) => FIRST.has(plain));
}

const TITLES = setOf(
  "mr mrs ms miss mx dr prof professor doctor sir madam lord lady herr herrn frau monsieur madame mademoiselle mme mlle m senor senora senorita sr sra srta signor signora signorina sig dott dottor dottoressa senhor senhora dona don dna mevrouw meneer dhr mevr heer pani pan",
);
/** `M` is a title in French alone, `don` and `pan` are words. */
const WEAK_TITLES = setOf("m pan don dna lady lord sir heer");
/** Forms of address that are other words too (`mag`, `HR`): only as abbreviations, with a capital, small letters and a full stop. */
const DOTTED_TITLES = setOf("hr fr mag ing avv arch geom rag dra dna lic mevr dhr");
/** What Italian puts behind a title for a woman: `Sig.ra`, `Dott.ssa`. */
const TITLE_ENDINGS = setOf("ra na ssa");
/** Parts of family names between given name and name. */
const PARTICLES = setOf(
  "de del della dell di da do dos das du des la le van von der den ter ten zu zum el al bin ben ibn y e af av lo",
);
/** Those of them that stand at the beginning of a name behind a title, and mean nothing else there. */
const NOBLE = setOf("van von ter ten vom zu");
/** `Frau des Nachbarn`, `Madame la Directrice`, `doctor de la Universidad`: articles and genitives begin a name with a capital only. */
const NOBLE_TITLES = setOf(
  "mr mrs ms miss mx dr sr sra srta mme mlle mevrouw meneer dhr mevr heer sig signor signora senor senora",
);
/** Words behind which capitals go on naming a thing: `Victoria Station`, `Newton Method`. */
const THINGS = setOf(
  `street st road rd avenue ave lane ln drive dr boulevard blvd court square way close crescent terrace place row gardens grove hill mews walk
  station university college school hospital clinic bank church cathedral airport bridge park river lake mount mountain island islands beach bay valley county city town village hall house hotel theatre theater museum library
  inc corp ltd llc plc gmbh ag se kg co company group holdings partners services service team department dept division office foundation institute association society union party league club cup award awards prize trophy
  act law laws theorem inequality equation algorithm method function transform distribution test effect syndrome disease scale principle conjecture paradox number machine model engine language framework library pipeline server protocol standard
  day week festival carnival eve line express airlines motors records press times post news journal magazine review guide edition version release project programme program plan policy building tower centre center plaza mall market
  salad sauce cake pie tea apple apples pizza burger sandwich brandy whisky wine beer
  strasse gasse platz allee weg universitat schule klinik krankenhaus kirche bahnhof bruecke brucke gymnasium preis stiftung verlag rue banque universite lycee hopital universidad hospital banco universita ospedale scuola banca straat laan plein universiteit ziekenhuis`.replace(
    /\s+/g,
    " ",
  ),
);
/** The same before the name, where the thing comes first. */
const THINGS_BEFORE = setOf(
  `rue avenue boulevard place square quai allee chemin impasse cours route lycee college universite hopital stade pont gare station fondation prix calle avenida plaza paseo universidad hospital estadio via viale piazza corso largo universita ospedale stadio
  rua praca travessa alameda estrada universidade saint st sankt santa san sao mount mt lake port fort cape hotel cafe bar castle cathedral parc museo musee hamburg team project projet projekt code apache microsoft google amazon visual jungle radio`.replace(
    /\s+/g,
    " ",
  ),
);
/** Capitalised words that are no part of a name: what opens sentences, days, months, forms of address, business words. */
const NO_NAMES = setOf(
  `the a an this that these those it he she we you they i my your his her our their its and or but so if when where what who why how which there here then than to in on at for from by with without of as is are was were be been has have had do does did will would can could should may might must not no yes ok please thanks thank dear hi hello hey
  monday tuesday wednesday thursday friday saturday sunday january february march april june july august september october november december feb mar apr jun jul aug sep sept oct nov dec montag dienstag mittwoch donnerstag freitag samstag sonntag lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes miercoles jueves viernes sabado domingo lunedi martedi mercoledi giovedi venerdi sabato domenica maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
  new old big great north south east west northern southern eastern western upper lower central national international general global royal united first last second third north next
  senior junior chief vice head lead director manager officer president secretary minister king queen prince princess
  customer client user patient employee staff account order invoice ticket case contract agreement payment budget meeting conference call room floor gate email mail phone address date name subject total amount number reference bill balance summary report review update notice policy security system data service services support help desk sales marketing finance legal human resources product engineering design operations management board committee council
  open close save click settings file edit view print delete cancel submit start stop login logout error warning info debug stack trace
  best kind warm many regards greetings cheers sincerely yours faithfully love hugs sent re fwd fw cc bcc from
  der die das ein eine und oder aber ich du er sie es wir ihr mein dein sein unser bitte danke hallo liebe lieber liebes sehr geehrte geehrter guten herzliche viele freundliche freundlichen beste grusse gruss kunde kundin mitarbeiter mitarbeiterin patientin bei nach fur von mit auf aus am im zum zur
  le la les un une des et ou mais je tu il elle nous vous ils mon ma mes ton ta son sa ses notre votre bonjour bonsoir salut cher chere chers cordialement merci cliente
  el los las y o pero yo ella nosotros mi su sus nuestro hola estimado estimada querido querida saludos gracias un una al del
  lo gli i io lui lei noi voi ciao caro cara gentile egregio egregia saluti cordiali distinti grazie
  os as um uma mas eu ele ela nos meu minha seu sua ola caro cara cumprimentos obrigado obrigada melhores
  de het een en maar ik jij hij zij wij mijn jouw zijn haar ons onze hoi beste geachte groeten groet vriendelijke met dank klant
  ask tell call contact meet email ping thank forward remind invite visit let give send write draft summarise summarize translate rewrite help explain show find get make take add remove update create review check book wire bill pay refund transfer
  english german french spanish italian portuguese dutch american british chinese japanese indian european
  dx rx hx pt bp gp hr it ceo cfo cto vat inc api url http https sql json xml html css pdf csv id ip`.replace(/\s+/g, " "),
);
/** Products and works that carry a first name. */
const NO_PERSONS = setOf(
  "web nan dev vite perl baz pathe world promise machine thread snapshots folks guys everyone everybody friends colleagues bixby jenkins kafka tesla dell ford grafana ansible gradle docker haskell scala ubuntu debian fedora macy mcdonald mcdonalds ibm visa nokia siemens bosch hamlet macbeth shakespeare einstein newton darwin mozart beethoven bach picasso",
);
/** First names that alone are mostly programs and products. */
const NOBODY_ALONE = setOf(
  "alexa siri cortana gemini claude watson cassandra julia ruby pascal ada linus zara hermes celine wendy denny molly polly django flask maven elixir",
);
const GREETINGS = setOf(
  "hi hello hey dear morning afternoon evening thanks hallo liebe lieber moin servus salut bonjour bonsoir cher chere hola querido querida estimado estimada buenos ciao caro cara buongiorno gentile egregio ola bom hoi beste dag geachte",
);
/** What is done to or by people: a lone name beside one of these is somebody. */
const TO_PEOPLE = setOf(
  `ask asked tell told thank thanks call called phone ping email emailed mail message text remind invite invited meet met with and by from for to cc see saw contact introduce introducing approve of about
  frag frage ruf sag mit von und fur an bei grusse demande appelle dis avec et de pour a chez pregunta llama dile con y para chiedi chiama di pergunta liga vraag bel zeg met van en voor aan`.replace(
    /\s+/g,
    " ",
  ),
);
const BY_PEOPLE = setOf(
  `said says told asked asks wants wanted thinks knows called calls wrote writes works worked lives lived was is has had will would joined left quit earns makes reports reported complained complains agreed signed sent met and came went took can does did
  sagt sagte will hat ist war wurde fragt arbeitet wohnt verdient kommt und dit a est veut habite travaille gagne touche souffre dice dijo es esta tiene vive quiere trabaja gana cobra ha vuole abita lavora guadagna soffre disse tem mora quer trabalha ganha sofre zei zegt heeft wil woont werkt verdient lijdt zoekt was wordt`.replace(
    /\s+/g,
    " ",
  ),
);
/** The rule of names that a question asks about: `does Bob have HIV?`. */
export const ASKED = "asked about";
/** Verbs that stand before the name in such a question, and what does in those that keep the order of a statement. */
const ASKS_OF = setOf(
  `does did has is was can will do isn't doesn't hasn't wasn't if whether
  hat ist war wird verdient leidet nimmt bekommt raucht wohnt lebt trinkt hatte darf ob
  que qu'est-ce a est prend souffre gagne touche habite avait si
  tiene es esta sufre padece toma gana cobra vive tuvo tenia
  ha e soffre prende guadagna abita aveva se
  tem toma ganha mora teve o a
  heeft lijdt slikt verdient woont had of`.replace(/\s+/g, " "),
);
/** What stands behind a name that nobody knows, where a question in English or French asks about it. */
const ASKED_TO = setOf(
  "have take suffer earn make smoke drink get need use own live work weigh vote pray belong a-t-il a-t-elle est-il est-elle souffre-t-il souffre-t-elle prend-il prend-elle gagne-t-il gagne-t-elle",
);
/** Words that stand right before the name of somebody. */
const ROLES = setOf(
  `patient customer client employee colleague manager boss nurse tenant landlord beneficiary holder user member student teacher witness contact wife husband son daughter brother sister mother father friend neighbour neighbor named name is by from
  patientin kunde kundin mitarbeiter mitarbeiterin kollege kollegin mieter mieterin chef chefin versicherte patiente cliente collegue salarie salariee locataire paciente empleado empleada colega inquilino paziente dipendente collega inquilina funcionario funcionaria patient klant medewerker collega huurder`.replace(
    /\s+/g,
    " ",
  ),
);
/** What only people do. */
const LIVES = setOf(
  "lives lived quit thinks knows joined earns complains works worked arbeitet wohnt kundigte glaubt habite vive travaille lavora abita trabaja trabalha mora woont werkt",
);
/** Those of one's own, and of one's work, who go by a name. */
const KIN = setOf(
  "wife husband son daughter brother sister uncle aunt cousin boyfriend girlfriend fiance fiancee colleague coworker boss kollege kollegin freund freundin bruder schwester sohn tochter femme mari frere soeur fils fille esposa esposo marido hermano hermana hijo hija moglie fratello sorella figlio figlia irmao irma filho filha broer zus zoon dochter collega",
);
/** Labels of forms whose value is a name. */
const LABELS = setOf(
  "name names customer client patient employee contact from to cc attn attention beneficiary holder tenant user author signed nom prenom nombre nome naam vorname nachname kunde kundin patientin mitarbeiter cliente paziente klant beneficiario beneficiaire empfanger",
);
/** Words that introduce somebody by name: `my name is`, `ich heiße`. */
const INTRODUCES =
  /(?:\bname is|\bname's|\bnamed|\bcalled|\bi am|\bi'm|\bich heiss?e|\bheisst|\bmein name ist|\bm'appelle|\bs'appelle|\bmon nom est|\bme llamo|\bse llama|\bmi nombre es|\bmi chiamo|\bsi chiama|\bil mio nome e|\bme chamo|\bmeu nome e|\bik heet|\bmijn naam is|\bnazywam sie)\s{1,3}$/;
const SIGN_OFF =
  /(?:regards|sincerely|cheers|best|faithfully|yours|thanks|thank you|love|gruss(?:e|en)?|cordialement|bien a (?:toi|vous)|saluti|saludos?|cumprimentos|abracos?|groet(?:en|jes)?|hochachtungsvoll|merci|danke|grazie|gracias|obrigad[oa])[,.!]?\s{0,3}[\r\n>\s]{1,6}$/;

/** An age or a birth behind a name. */
const AGED = /^,? (?:\(|aged )?\d{2}(?!\d)|^,? \(?(?:born|b\.|geb|nee? |nacid|nat[oa] |nascid|\*)/;

/** What a capitalised word may be in a name. */
interface Part {
  readonly first: "yes" | "word" | "no";
  readonly last: "yes" | "word" | "no";
}
const OTHER: Part = { first: "no", last: "no" };

function partOf(word: Word): Part {
  if (NO_NAMES.has(word.plain) || NO_PERSONS.has(word.plain)) return OTHER;
  const first = inEither(word.plain, FIRST, WORDLIKE_FIRST);
  const last = inEither(word.plain, LAST, WORDLIKE_LAST);
  return first === "no" && last === "no" ? OTHER : { first, last };
}

function inEither(plain: string, sure: ReadonlySet<string>, words: ReadonlySet<string>): Part["first"] {
  if (sure.has(plain)) return "yes";
  if (words.has(plain)) return "word";
  if (!plain.includes("-")) return /^(?:mc|mac|o')[a-z]{3}/.test(plain) ? "yes" : "no";
  // `Jean-Luc`, `Smith-Jones`: what one half is.
  let found: Part["first"] = "no";
  for (const half of plain.split("-")) {
    if (sure.has(half)) return "yes";
    if (words.has(half)) found = "word";
  }
  return found;
}

/**
 * Names of people: by title, by what introduces them, by the lexicon of first and family names, and by what stands around. A name that is a word or a place as well counts only where the
 * other half of the name or the context speaks for it.
 */
export function personsIn(text: string, words: readonly Word[]): ProseSpan[] {
  const found: ProseSpan[] = [];
  const headline = isHeadline(words);
  for (let i = 0; i < words.length; i++) {
    const word = words[i];
    if (word === undefined || word.code) continue;
    const bearer = PARTICLES.has(word.plain) ? particleName(text, words, i) : undefined;
    if (bearer !== undefined) {
      found.push({ entity: "PERSON", rule: "after a title", start: word.start, end: words[bearer]?.end ?? word.end });
      i = bearer;
      continue;
    }
    if (!(word.capitalised || word.capitals || isInitial(word, text))) continue;
    if (!isInitial(word, text) && (PARTICLES.has(word.plain) || NO_NAMES.has(word.plain))) continue;
    if (isDottedTitle(words, i, text)) continue;
    if (TITLES.has(word.plain) && !WEAK_TITLES.has(word.plain)) continue;
    // `Hat Frau Weber ...?`
    if (word.opens && ASKS_OF.has(word.plain) && partOf(word) === OTHER) continue;
    const asked = isAskedAbout(text, words, i);
    const last = lastOf(text, words, i, asked);
    const rule = ruleOf(text, words, i, last, headline, asked);
    if (rule === undefined) continue;
    if (rule.name !== undefined)
      found.push({
        entity: "PERSON",
        rule: asked ? ASKED : rule.name,
        start: word.start,
        end: words[rule.last]?.end ?? word.end,
      });
    i = rule.last;
  }
  return found;
}

/** Words looked at for the end of a question. */
const LONGEST_QUESTION = 40;

/** True where a question asks about what stands at `at`, over a title: behind a verb at its beginning or before its sign, or before a verb that asks. */
function isAskedAbout(text: string, words: readonly Word[], at: number): boolean {
  const sentence = words[at]?.sentence;
  let from = at - 1;
  while (from > 0 && TITLES.has(words[from]?.plain ?? "") && words[from]?.sentence === sentence) from--;
  const [before, behind] = [words[from], words[at + 1]].map((word) => (word?.sentence === sentence ? word : undefined));
  if (behind !== undefined && /^\w+-(?:t-)?(?:il|elle)$/.test(behind.plain)) return true;
  const verb = before !== undefined && ASKS_OF.has(before.plain);
  if (verb && before.opens) return true;
  // `Giovanni ha l'asma?`
  if (!verb && !(behind !== undefined && (ASKS_OF.has(behind.plain) || BY_PEOPLE.has(behind.plain)))) return false;
  let last = at;
  while (last - at < LONGEST_QUESTION && words[last + 1]?.sentence === sentence) last++;
  const end = words[last]?.end ?? 0;
  return /^\s{0,2}\?/.test(text.slice(end, end + 3));
}

/** Index of the last word that a name beginning at `from` may reach to: capitals and particles apart by blanks, and initials. */
function lastOf(text: string, words: readonly Word[], from: number, asked: boolean): number {
  let last = from;
  for (let i = from + 1; i < words.length && i <= from + 5; i++) {
    const word = words[i];
    if (word === undefined) break;
    const joined = /^\s{1,2}$/.test(word.gap) && !/\n/.test(word.gap);
    const behindInitial = /^\. {0,2}$/.test(word.gap) && (words[i - 1]?.end ?? 0) - (words[i - 1]?.start ?? 0) === 1;
    if (!joined && !behindInitial) break;
    if (PARTICLES.has(word.plain) && !word.capitalised) continue;
    // `Hat Anna Krebs?`
    if (asked && isIllness(word.plain) && words[i + 1]?.sentence !== word.sentence) break;
    if (
      !isInitial(word, text) &&
      (!(word.capitalised || word.capitals) || (word.code && !behindInitial) || NO_NAMES.has(word.plain))
    )
      break;
    last = i;
  }
  return last;
}

/** The title right before a word, if one stands there. */
function titleBefore(text: string, words: readonly Word[], at: number): string | undefined {
  const before = words[at - 1];
  if (before === undefined || !/^\.? {1,2}$/.test(words[at]?.gap ?? "")) return undefined;
  if (TITLES.has(before.plain)) return before.plain;
  if (isDottedTitle(words, at - 1, text)) return before.plain;
  const whole = words[at - 2];
  return before.gap === "." && TITLE_ENDINGS.has(before.plain) && whole !== undefined && TITLES.has(whole.plain)
    ? whole.plain
    : undefined;
}

function isDottedTitle(words: readonly Word[], at: number, text: string): boolean {
  const word = words[at];
  return word?.capitalised === true && DOTTED_TITLES.has(word.plain) && text.startsWith(". ", word.end);
}

/** Index of the last word of a name that begins with its particle behind a title (`Mrs van der Berg`, `heer De Boer`). */
function particleName(text: string, words: readonly Word[], from: number): number | undefined {
  const title = titleBefore(text, words, from);
  const first = words[from];
  if (title === undefined || first === undefined || (WEAK_TITLES.has(title) && title !== "heer" && title !== "m"))
    return undefined;
  if (!NOBLE.has(first.plain) && !(NOBLE_TITLES.has(title) && first.capitalised)) return undefined;
  let at = from + 1;
  while (at <= from + 3 && words[at]?.gap === " " && (PARTICLES.has(words[at]?.plain ?? "") || words[at]?.plain === "und")) at++;
  const name = words[at];
  if (name === undefined || name.gap !== " " || name.code || !name.capitalised) return undefined;
  if (NO_NAMES.has(name.plain) || NO_PERSONS.has(name.plain) || THINGS.has(name.plain)) return undefined;
  return Math.min(lastOf(text, words, at, false), at + 2);
}

function isInitial(word: Word, text: string): boolean {
  return word.end - word.start === 1 && /\p{Lu}/u.test(text[word.start] ?? "") && text[word.end] === ".";
}

/** Most words are capitalised: capitals say nothing. */
function isHeadline(words: readonly Word[]): boolean {
  if (words.length < 6) return false;
  let capitals = 0;
  for (const word of words) if (word.capitalised || word.capitals) capitals++;
  return capitals > words.length * 0.8;
}

function ruleOf(
  text: string,
  words: readonly Word[],
  from: number,
  last: number,
  headline: boolean,
  asked: boolean,
): { readonly name?: string; readonly last: number } | undefined {
  const word = words[from] as Word;
  const before = words[from - 1];
  const near = before !== undefined && before.sentence === word.sentence && word.gap.length <= 3 ? before : undefined;
  // What follows or precedes makes it a thing.
  for (let i = from; i <= last; i++) if (i > from && THINGS.has(words[i]?.plain ?? "")) return undefined;
  const behind = words[last + 1];
  if (
    behind !== undefined &&
    (behind.gap === " " || behind.gap === " & ") &&
    ((THINGS.has(behind.plain) && (behind.capitalised || behind.capitals || headline)) || behind.gap === " & ")
  )
    return undefined;
  if (word.gap === " & ") return undefined;
  const called = titleBefore(text, words, from);
  const title =
    called !== undefined && (!WEAK_TITLES.has(called) || (called === "m" && word.gap.startsWith(".")) || partOf(word) !== OTHER);
  if (title && !NO_PERSONS.has(word.plain)) return { name: "after a title", last: Math.min(last, from + 3) };
  if (near !== undefined && THINGS_BEFORE.has(skipParticles(words, from)?.plain ?? "")) return { last };
  const parts: Part[] = [];
  for (let i = from; i <= last; i++) parts.push(partOf(words[i] as Word));
  const lead = plainOf(text.slice(Math.max(0, word.start - 40), word.start));
  const introduced = INTRODUCES.test(lead);
  const signed = SIGN_OFF.test(lead) && endsLine(text, words[last]?.end ?? 0);
  const greeted =
    near !== undefined &&
    GREETINGS.has(near.plain) &&
    (/^(?:[,:!.]|\s*\n|\s*$)/.test(text.slice(words[last]?.end ?? 0, (words[last]?.end ?? 0) + 3)) ||
      partOf(word).first !== "no");
  const labelled = before !== undefined && LABELS.has(before.plain) && /^\s?: ?$/.test(word.gap);
  const named = introduced || signed || greeted || labelled;
  const role = near !== undefined && word.gap === " " && ROLES.has(near.plain);
  const acts =
    asked ||
    (behind !== undefined && behind.sentence === word.sentence && /^[, ]{1,2}$/.test(behind.gap) && BY_PEOPLE.has(behind.plain));
  const object = near !== undefined && word.gap === " " && TO_PEOPLE.has(near.plain);
  const end = words[last]?.end ?? 0;
  const aged = AGED.test(plainOf(text.slice(end, end + 12)));
  const first = parts[0] as Part;
  const rest = parts.slice(1);
  const family = rest.reduce<Part["last"]>(
    (best, { last: l }) => (best === "yes" || l === "yes" ? "yes" : best === "word" || l === "word" ? "word" : "no"),
    "no",
  );
  const unknownRest = rest.length > 0 && family === "no";
  const initial = word.end - word.start === 1;
  if (word.capitals && !(first.first === "yes" && family !== "no"))
    return labelled && rest.length > 0 ? { name: "labelled", last } : undefined;
  if (initial)
    return family === "yes" || (family === "word" && (acts || named || role || object))
      ? { name: "initial and family name", last }
      : undefined;
  const speaks = named || role || acts || object || aged;
  if (rest.length > 0) {
    if (first.first === "yes") {
      if (family !== "no" || speaks || !headline)
        return { name: "first and family name", last: unknownRest && word.opens && !speaks && headline ? from : last };
    }
    if (first.first === "word" && (family === "yes" || speaks || (family === "word" && !word.opens && !headline)))
      return { name: "first and family name", last };
    // `Gehalt von Petra Hoffmann`: the name begins later.
    if (first === OTHER && PARTICLES.has(words[from + 1]?.plain ?? "")) return undefined;
    if (first.first === "no" && rest.slice(0, -1).some(({ first: f }) => f === "yes")) return undefined;
    const middle = last - from >= 2 && isInitial(words[from + 1] as Word, text);
    if (first.first === "no" && !headline && (family === "yes" || middle || (family === "word" && speaks)))
      return { name: "family name", last };
    if (first === OTHER && !headline && !word.opens && rest.length === 1 && behind?.gap === " " && LIVES.has(behind.plain))
      return { name: "does what people do", last };
    if (named && rest.length <= 3) return { name: introduced ? "introduced" : "labelled", last };
    if ((role || aged) && acts) return { name: "role", last };
    if (first.last === "yes" && rest.some(({ first: f }) => f === "yes")) return { name: "family name first", last };
    return undefined;
  }
  // `Smith, John`
  if (
    first.last !== "no" &&
    first.first === "no" &&
    behind !== undefined &&
    behind.gap === ", " &&
    behind.capitalised &&
    partOf(behind).first === "yes" &&
    (first.last === "yes" || labelled)
  )
    return { name: "family name first", last: from + 1 };
  if (introduced || greeted || (signed && first.first !== "no") || (labelled && first !== OTHER)) {
    if (PLACE.has(word.plain) && first.first === "no") return undefined;
    return NO_PERSONS.has(word.plain) ? undefined : { name: introduced ? "introduced" : "greeted or signed", last };
  }
  if (first.first === "yes" && !headline && !(NOBODY_ALONE.has(word.plain) && !role && !acts))
    return { name: "first name", last };
  if (
    first.first === "word" &&
    !headline &&
    !PLACE.has(word.plain) &&
    (acts || (object && near?.plain !== "to" && near?.plain !== "in")) &&
    (!word.opens || asked)
  )
    return { name: "first name", last };
  if (first === OTHER && near !== undefined && word.gap === " " && KIN.has(near.plain) && !headline) return { name: "kin", last };
  if (first.last === "yes" && !headline && (role || (acts && !word.opens)) && !PLACE.has(word.plain))
    return { name: "family name", last };
  if (asked && first === OTHER && behind?.gap === " " && ASKED_TO.has(behind.plain) && !PLACE.has(word.plain) && !headline) {
    const rest = words.slice(last + 1, last + 10).filter(({ sentence }) => sentence === word.sentence);
    if (!isDrug(word.plain) && rest.some(({ plain }) => isIllness(plain) || plain === "earn")) return { name: ASKED, last };
  }
  return undefined;
}

/** The word before a name, over the particles between them: `place de la Bastille`. */
function skipParticles(words: readonly Word[], from: number): Word | undefined {
  let i = from - 1;
  while (i > from - 4 && PARTICLES.has(words[i]?.plain ?? "")) i--;
  return words[i]?.sentence === words[from]?.sentence ? words[i] : undefined;
}

function endsLine(text: string, at: number): boolean {
  return /^[ \t,.]{0,3}(?:\r?\n|$)/.test(text.slice(at, at + 6));
}

const IN_PLACES = setOf(
  "in from near at to of via around outside aus nach bei um a depuis en desde hacia da verso vicino em para de uit naar te bei through leaving visit visiting visited",
);
const COMPANY_FORMS =
  /^(?:inc|corp|corporation|ltd|limited|llc|llp|plc|gmbh|ag|kg|ohg|ug|sarl|sas|srl|spa|bv|nv|lda|ltda|gruppe|group|holdings|bank|university|hospital|college|universitat|klinik|universite|hopital|universidad|universita|ospedale|universiteit)$/;

/** Places by the lexicon behind a word of place, companies by their form of law, institutions by their kind. */
export function placesIn(text: string, words: readonly Word[]): ProseSpan[] {
  const found: ProseSpan[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i];
    if (word === undefined || word.code || !(word.capitalised || word.capitals)) continue;
    const near = words[i - 1];
    const placed = near !== undefined && ((word.gap === " " && IN_PLACES.has(near.plain)) || /^,? ?\d{5} $|^, $/.test(word.gap));
    if (placed && PLACE_STARTS.has(word.plain)) {
      for (let length = 3; length > 0; length--) {
        const name = words.slice(i, i + length);
        if (name.length < length || name.some((w, at) => at > 0 && !/^[ -]$/.test(w.gap))) continue;
        if (!PLACE.has(name.map((w) => w.plain).join(" "))) continue;
        found.push({ entity: "LOCATION", rule: "city or country", start: word.start, end: name.at(-1)?.end ?? word.end });
        i += length - 1;
        break;
      }
      continue;
    }
    let last = i;
    while (last < i + 4 && words[last + 1]?.gap === " " && (words[last + 1]?.capitalised || words[last + 1]?.capitals)) last++;
    for (let at = last; at > i; at--) {
      const form = words[at];
      if (form === undefined || !COMPANY_FORMS.test(form.plain)) continue;
      found.push({ entity: "ORGANIZATION", rule: "form of law", start: word.start, end: form.end });
      i = at;
      break;
    }
    const behind = text.slice(words[last]?.end ?? 0, (words[last]?.end ?? 0) + 10);
    const dotted = i <= last ? /^ (?:S\.?(?:A|L|A\.R\.L|r\.l|p\.A|A\.S)\.?|B\.V\.|N\.V\.|S\.p\.A\.)/.exec(behind) : null;
    if (dotted !== null && i < last + 1) {
      found.push({
        entity: "ORGANIZATION",
        rule: "form of law",
        start: word.start,
        end: (words[last]?.end ?? 0) + dotted[0].length,
      });
      i = last;
    } else if (COMPANY_FORMS.test(word.plain) && words[i + 1]?.plain === "of" && words[i + 2]?.capitalised === true) {
      found.push({ entity: "ORGANIZATION", rule: "institution", start: word.start, end: words[i + 2]?.end ?? word.end });
      i += 2;
    }
  }
  return found;
}
