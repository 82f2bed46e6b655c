import { partitionPoint } from "../../partition-point.ts";
import { SPECIAL_CATEGORIES } from "./categories/index.ts";
import { isFigurative } from "./figurative.ts";
import { type HealthMention, healthIn } from "./health-mentions.ts";
import { languageOf, type ProseLanguage } from "./language.ts";
import { AMOUNTS, asksForPay, isPaid, isPayWord } from "./pay.ts";
import { ASKED, type ProseSpan } from "./persons.ts";
import { type Phrase, reachOf } from "./phrases.ts";
import { isAboutSomebody } from "./somebody.ts";
import { plainOf, unelided, type Word } from "./words.ts";

const setOf = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** The commonest words, which are of no category: most words of a text are among them. */
const SAYS_NOTHING = setOf(
  "the and for that this with you your have has had are was were not but from they she her his him our will can could would should what when where which who how all any there their been about into over then than them some out just now very more please need want like also new last next one two send get der die das und ist von mit den dem nicht ein eine einen fur auf les des est une dans pour avec sur qui los las del una con por que para gli che per non sono della het een van voor dat niet",
);
/** Who a sentence may be about, by language: pronouns and possessives of one person. */
const PRONOUNS: Readonly<Record<ProseLanguage, ReadonlySet<string>>> = {
  en: setOf("i i'm i've i'd im ive my me mine myself he he's she she's his her him hers himself herself"),
  de: setOf("ich mein meine meinen meinem meiner mir mich er sein seine seinem seinen seiner ihr ihre ihrem ihren ihrer ihm sie"),
  fr: setOf("je j'ai moi mon ma mes il elle lui sa ses m'a m'ont j'etais"),
  es: setOf("yo mi mis me tengo soy estoy el ella su sus le padezco sufro tomo"),
  it: setOf("io mio mia miei mie mi ho sono soffro lui lei suo sua suoi sue gli prendo"),
  pt: setOf("eu meu minha meus minhas me tenho sou estou ele ela seu sua lhe sofro tomo"),
  nl: setOf("ik mijn mij me hij zij haar hem zijn heb ben"),
};
/** What makes a statement one about everybody: no person is meant. */
const GENERAL =
  /\b(?:what (?:is|are|causes)|(?<!, )which|how (?:does|do) |who (?:is|was)|difference between|symptoms? of|affects?|guidelines?|stud(?:y|ies)|trials?|research|awareness|(?<!\b(?:both|my|our|his|her|two|three) )(?:people|patients|adults|children|kids|teenagers|babies|infants|women|men|those|employees|workers|teachers|students|drivers) (?:with|who|have|suffering)|risk of|prevention|(?<!background |employment |security |criminal |vetting |candidate )screening|vaccin\w+ against|recommend\w*|worldwide|population|per cent of|statistics|(?:is|are) (?:defined|characteri[sz]ed|caused) |(?:is|are|can be|may be) diagnosed (?:when|if|by|on)|refers to|an? (?:kind|type|form) of|definition of|regardless|poem|essay|novel|history of the|leitlinie|studie|symptome|betrifft|empfiehlt|vorsorge|was ist|was hilft|unterschied|weltweit|erwachsene[nr]?|symptomes?|touche un|recommandee?|difference|qu'est-ce|etude|adultes?|afecta a|guias?|sintomas?|que es|recomiendan|adultos?|estudio|colpisce|linee guida|che cos|sintomi|differenza|adulti|studio|afeta|sintomas|o que e|estudo|treft|richtlijn\w*|symptomen|wat is|verschil|volwassenen|onderzoek)\b/;

/** How a category is known to be meant in a sentence. */
interface Subject {
  readonly entity: string;
  readonly rule: string;
  /** Words that speak of it, without accents. */
  readonly word: (plain: string) => boolean;
  /** Words that must stand in the sentence too, where the word alone may mean something else. */
  readonly with?: RegExp;
  /** Words beside which nobody need be named. */
  readonly claims?: RegExp;
  /** Sentences that mean something else. */
  readonly unless?: RegExp;
  /** It counts only where a question asks about somebody by name. */
  readonly asked?: true;
  /** What must stand around the word, and is told with it. */
  readonly phrase?: Phrase;
}

const MEDICAL =
  /\b(?:diagnos\w+|(?:doctor|gp|physician|oncologist) (?:says|said|thinks|confirmed)|dx|rx|hx|prescri\w+|present(?:s|ed) with|complain(?:s|ed|ing) of|admitted (?:with|for)|treated (?:with|for)|suffer(?:s|ed|ing)? (?:from|with)|started on|hospital\w*|medical history|past history|medications?:|test(?:ed)? positive|came back positive|(?:mri|ct|scan|biops\w+|x-?rays?|ultrasound|colonoscopy|endoscopy|gastroscopy|bloods?|ecg|ekg|mrt|rontgen\w*|irm|scanner|tac|rm|ressonancia|resonancia|risonanza|ecografia|radiografia) (?:showed|shows|confirm\w+|reveal\w*|suggest\w*|found|zeigt\w*|ergab|bestatigt\w*|montre|confirme|muestra|mostro|confirma|evidenzia|mostra|mostrou|toont)|refills?|repeat prescription|long-term sick|on the sick|pt|b\.?i\.?d|t\.?i\.?d|(?:feeling|felt) (?:awful|terrible|rough|unwell|ill|sick|poorly|rubbish|better)|(?:off|out) (?:sick|ill|today|work|school)|(?:can't|cannot|won't be able to|unable to) (?:come in|make it|work|attend)|call(?:ed|ing)? in sick|sick (?:leave|note|day)s?|fit note|signed off|anamnese|befund|vorerkrankungen|medikation|krank(?: ?gemeldet|meldung|geschrieben|schreibung|enschein)|arbeitsunfahig\w*|attest|antecedents|arret (?:maladie|de travail)|ordonnance|antecedentes|baja (?:medica|laboral|por)|de baja por|parte medico|anamnesi|ricovera\w+|certificato medico|in malattia|baixa (?:medica|por)|de baixa|atestado medico|internad[oa]|ingresad[oa]|voorgeschiedenis|medicatie|ziek ?(?:gemeld|melding)|ziekteverlof|opgenomen met|leidet (?:\w+ ){0,4}an|diagnostiz\w+|erkrank\w+|verschrieb\w+|in behandlung|souffre|atteinte? d|traitement|prescrit\w*|padece|sufre|diagnosticar\w*|diagnosticad\w+|recetad\w+|soffre|affett[oa] d|prescritt\w+|assume|sofre|receitad\w+|lijdt aan|vastgesteld|voorgeschreven|behandeld)\b/;

// --- The others: GDPR Article 9, and pay.

/** Illnesses, drugs and values are looked for by `healthIn`; the rest of its rules is as for the others. */
const HEALTH: Subject = { entity: "HEALTH_DATA", rule: "illness", word: () => false, claims: MEDICAL };

const SUBJECTS: readonly Subject[] = [
  {
    entity: "HEALTH_DATA",
    rule: "course of treatment",
    word: (plain) =>
      /^(?:hospitali[sz]ed|hospital|surgery|operated|operiert|opere|sick|ill|krank|malade|enfermo|enferma|malata|malato|doente|ziek|psychiatrist|psychiater|psychiatre|therapist|rehab|results?|failure|disorder)$/.test(
        plain,
      ),
    with: /\b(?:in hospital|had surgery|off sick|out sick|sick leave|kidney failure|heart failure|liver failure|organ failure|(?:eating|panic|anxiety|personality) disorder|seeing a (?:therapist|psychiatrist)|ist krank|krankenhaus|en arret maladie|baja medica|in malattia|ziekteverlof)\b/,
  },
  {
    entity: "HEALTH_DATA",
    rule: "health asked for",
    asked: true,
    word: (plain) =>
      /^(?:medications?|medicines?|meds|pills|drugs|diagnos\w+|symptoms?|illness(?:es)?|diseases?|ill|sick|healthy|sober|vaccinated|tested|therapy|treatment|doctor|medikamente?|tabletten|krankheit(?:en)?|krank|gesund|geimpft|arzt|medicaments?|maladies?|malade|vaccinee?|medicamentos?|medicinas?|enfermedad(?:es)?|enferm[oa]|vacunad[oa]|farmac[oi]|medicin[ae]|malatti[ae]|malat[oa]|vaccinat[oa]|remedios?|doencas?|doente|vacinad[oa]|medicijnen?|pillen|ziektes?|ziek|gevaccineerd)$/.test(
        plain,
      ),
  },
  {
    entity: "CRIMINAL_RECORD",
    rule: "record asked for",
    asked: true,
    word: (plain) =>
      /^(?:arrest(?:ed|s)|convict(?:ed|ions?)|jailed|imprisoned|prison|felon|verhaftet|vorbestraft|verurteilt|gefangnis|arretee?|condamnee?|prison|detenid[oa]|condenad[oa]|carcel|arrestat[oa]|condannat[oa]|carcere|pres[oa]|prisao|gearresteerd|veroordeeld|gevangenis)$/.test(
        plain,
      ),
  },
  {
    entity: "POLITICAL_OPINION",
    rule: "vote asked for",
    asked: true,
    word: (plain) =>
      /^(?:votes?|voted|voting|republican|democrat|party|gewahlt|wahlt|partei|vote|parti|vota|voto|partido|partito|votato|votou|gestemd|stemt|partij)$/.test(
        plain,
      ),
    with: /\b(?:which party|vote[ds]?|voting|republican|democrat|wahlt|gewahlt|partei|parti|vota\w*|votou|voto|partido|partito|stemt|gestemd|partij)\b/,
    unless: /\b(?:birthday|christmas|dinner|third|work) party\b/,
  },
  {
    entity: "RELIGION",
    rule: "faith",
    word: (plain) =>
      /^(?:muslims?|moslems?|moslim|jewish|jew|catholic|protestant|christian|buddhist|hindu|sikh|mormon|atheist|baptist|lutheran|methodist|evangelical|orthodox|jehovah's|mosque|synagogue|katholisch\w*|evangelisch\w*|judisch\w*|muslimisch\w*|konfessionslos|kirchensteuer|moschee|catholique|protestante?|musulman[ea]?|juif|juive|chretien(?:ne)?|bouddhiste|mosquee|catolic[oa]|musulman|judi[oa]|evangelic[oa]|cristian[oa]|cattolic[oa]|ebre[oa]|ebraica|musulman[oa]|buddista|muculman[oa]|judeu|judia|crista|cristao|katholiek|joods|gereformeerd|ebraic[oa]|islamic[oa]|islam|baptised|baptized|kosher|ramadan|sabbath|shabbat)$/.test(
        plain,
      ),
    unless: /\b(?:christian (?:\p{Lu}|\w+ wrote)|regardless|festivals?|art|architecture|museum|recipes?)\b/u,
  },
  {
    entity: "UNION_MEMBERSHIP",
    rule: "union",
    word: (plain) =>
      /^(?:unions?|unioni[sz]ed|steward|gewerkschaft\w*|gewerkschafter(?:in)?|ver\.di|verdi|syndicats?|syndiqu[\w]+|[\w-]+-mitglied\w*|teamster|syndicale?|cgt|cfdt|sindicat[oi]|sindicalista|a?filiad[oa]|sindacat[oi]|sindacalista|cgil|cisl|sindicalizad[oa]|vakbond\w*|fnv|cnv)$/.test(
        plain,
      ),
    with: /\b(?:(?:trade|labou?r|joined (?:the|a)|member (?:of|in) (?:the|a|our)|(?:in|of|leads|organises|organizes) (?:the|our|a)) (?:\w+ )?unions?|union (?:member|rep|representative|official|dues|activist|organi[sz]er)|unioni[sz]ed|union (?:leaflets?|flyers?|meetings?|organi[sz]ing|drive|badge|card|branch|subs|fees)|a teamster|(?:ig-metall|ig metall|ver-?di|gew|ngg|dgb|evg|gdl|ig-bce|ig-bau)-mitglied\w*|shop steward|gewerkschaft\w*|ver\.?di|syndi\w+|cgt|cfdt|sindica\w+|sindaca\w+|cgil|cisl|vakbond\w*|fnv|cnv)\b/,
    unless:
      /\b(?:european|soviet|credit|customs|student|western|monetary|postal) union\b|\b(?:negotiat\w+|demands?|talks with|calls? for|fordert|verhandelt|appellent|convocan|negozia\w*|onderhandel\w*)\b/,
  },
  {
    entity: "SEXUAL_ORIENTATION",
    rule: "orientation",
    word: (plain) =>
      /^(?:gay|lesbian|bisexual|homosexual|queer|transgender|transsexual|asexual|pansexual|non-binary|schwul|lesbisch|bisexuell|homosexuell|transgeschlechtlich|homosexuel(?:le)?|lesbienne|bisexuel(?:le)?|lesbiana|omosessuale|lesbica|bisessuale|lesbica|homoseksueel|biseksueel|homo|came|same-sex|gender-affirming)$/.test(
        plain,
      ),
    with: /\b(?:is (?:een )?homo(?! )|is homo|gay|lesb\w+|bis\w+|homos\w+|omos\w+|queer|trans\w+|asexual|pansexual|non-binary|schwul|came out (?:as|to)|same-sex|gender-affirming)\b/,
    unless: /\b(?:rights|pride parade|movement|history|regardless|flag)\b/,
  },
  {
    entity: "POLITICAL_OPINION",
    rule: "party",
    word: (plain) =>
      /^(?:party|parties|(?:cdu|csu|spd|fdp|afd|bsw|npd|linken?|grunen?|spo|ovp|fpo|svp|piraten)-(?:mitglied|stadtrat|wahler|abgeordnete|kandidat|politiker|parteibuch)\w*|votes?|voted|voting|campaign\w*|canvass\w*|republican|democrat|tory|tories|conservatives?|socialist|communist|marxist|greens|wahlt|wahle|partei\w*|cdu|csu|spd|afd|fdp|linke|linken|grunen|parti|militant[ea]?|socialiste|communiste|partido|vota|voto|militante|psoe|partito|comunista|socialista|partij|stemt|stem|pvda|vvd|pvv|d66|groenlinks|leftist|right-wing|left-wing)$/.test(
        plain,
      ),
    with: /\b(?:(?:labour|republican|democratic|conservative|green|socialist|communist|liberal|reform|national|people's|christian democratic|libertarian|workers'?) party|party member|member of the \w+ party|vot(?:e|es|ed|ing) (?:for )?(?:the )?(?:greens?|labour|tor(?:y|ies)|conservatives?|republicans?|democrats?|socialists?|liberals?|reform|snp|afd|cdu|spd|trump|biden|left|right)|(?:is|am|was|a) (?:a )?(?:\w+ )?(?:republican|democrat|tory|communist|marxist|socialist|leftist)|(?:wahlt|wahle|mitglied|partei\w*)\b.{0,40}\b(?:cdu|csu|spd|afd|fdp|linken?|grunen|partei)|\w+-(?:mitglied|stadtrat|wahler|abgeordnete|kandidat|politiker|parteibuch)\w*|(?:parti|partido|partito|partij) \w+|(?:a|ai|as|avez) vote \w+|vota (?:a |per |no |pelo )?\w+|stemt (?:op )?\w+|militante? (?:de|du|del|di|do))\b/,
    unless: /\b(?:birthday|third|christmas|dinner|programme|program|finance|congress|history)\b/,
  },
  {
    entity: "BIOMETRIC_DATA",
    rule: "biometrics",
    word: (plain) =>
      /^(?:fingerprints?|biometric\w*|iris|retina|face|facial|voiceprint|faceprint|palm|fingerabdruck\w*|empreintes?|huellas?|impront[ae]|digitais|vingerafdruk\w*)$/.test(
        plain,
      ),
    with: /\b(?:fingerprints?|biometric\w*|(?:iris|retinal?|face|facial|palm|hand) (?:scans?|templates?|prints?|recognition|image|geometry)|voiceprint|faceprint|fingerabdruck\w*|empreintes? digitales?|huellas? (?:dactilar|digital)\w*|impront[ae] digital[ei]|impressoes digitais|vingerafdruk\w*)\b/,
    unless: /\b(?:ssh|key fingerprint|certificate|sha-?\d*|sensor|browser|unlock|hash)\b/,
  },
  {
    entity: "GENETIC_DATA",
    rule: "genetics",
    word: (plain) =>
      /^(?:brca1|brca2|brca|genome|genetic|gene|mutation|carrier|dna|genetische[rn]?|gentest|genetique|genetic[oa]|adn|mutacion|mutazione|mutacao|erbkrank\w*)$/.test(
        plain,
      ),
    with: /\b(?:brca|(?:carries|has|carrier of|inherited|tested (?:positive )?for|carry) (?:\w+ ){0,4}(?:mutation|gene|genome|brca)|(?:dna|genetic) (?:test|profile|sequence|result|screening)|her genome|his genome|my genome|gentest|test genetique|test genetico|prueba genetica)/,
  },
  {
    entity: "ETHNICITY",
    rule: "descent",
    word: (plain) =>
      /^(?:descent|origin|heritage|ethnicity|ethnically|ancestry|herkunft|abstammung|origine|ascendencia|origen|origini|ascendenza|afkomst|wurzeln|raices|radici|racines|raizes|wortels|roots|etnia|ethnie|hispanic|latino|latina)$/.test(
        plain,
      ),
    with: /\b(?:of (?:\w+ ){1,2}(?:descent|origin|heritage|ancestry)|(?:ethnicity|ethnically|hispanic|latin[oa])|\w+(?:er|scher) (?:herkunft|abstammung)|d'origine \w+|de (?:origen|ascendencia) \w+|di origini? \w+|de ascendencia \w+|van \w+ afkomst|\w+(?:ische|ischen|kische|kischen|deutsche) wurzeln|(?:raices|racines|raizes|radici) \w+(?:an[aeo]s?|es[aei]s?|iennes?|as|ni|ne|che)|\w+(?:an|ish|ese|ian|i) roots|\w+se wortels|(?:de|di|d'|d'une) ?(?:etnia|ethnie) \w+)\b/,
  },
  ...SPECIAL_CATEGORIES.map((phrase) => ({ ...phrase, word: (plain: string) => phrase.words.has(plain), phrase })),
];

const PAYS = "pay";
const NOTHING: readonly (Subject | typeof PAYS)[] = [];
/** What words were found to mean: texts say the same few thousand words again and again. Begun anew when full. */
let meanings = new Map<string, readonly (Subject | typeof PAYS)[]>();
const MEANINGS = 8192;

function meantBy(written: string): readonly (Subject | typeof PAYS)[] {
  const known = meanings.get(written);
  if (known !== undefined) return known;
  const plain = unelided(written);
  const meant: (Subject | typeof PAYS)[] = SUBJECTS.filter((subject) => subject.word(plain));
  if (isPayWord(plain)) meant.push(PAYS);
  if (meanings.size >= MEANINGS) meanings = new Map();
  const kept = meant.length === 0 ? NOTHING : meant;
  meanings.set(written, kept);
  return kept;
}

/**
 * Categories of personal data that sentences speak of: a word of its family, and somebody whom the sentence is about. `persons` are the names found.
 */
export function subjectsIn(text: string, words: readonly Word[], persons: readonly ProseSpan[]): ProseSpan[] {
  const found: ProseSpan[] = [];
  const hits: {
    readonly subject: Subject | typeof PAYS;
    readonly word: Word;
    readonly at: number;
    readonly place?: HealthMention;
  }[] = [];
  for (const place of healthIn(text, words)) hits.push({ subject: HEALTH, word: words[place.at] as Word, at: place.at, place });
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as Word;
    if (word.plain.length < 3 || word.plain.length > LONGEST_WORD || word.code || SAYS_NOTHING.has(word.plain)) continue;
    for (const subject of meantBy(word.plain)) hits.push({ subject, word, at });
  }
  if (hits.length === 0) return found;
  const language = languageOf(words);
  const own = PRONOUNS[language];
  const names = persons.map(({ start }) => start);
  const askedFor = persons.filter(({ rule }) => rule === ASKED).map(({ start }) => start);
  const seen = new Map<number, Sentence>();
  const told = new Set<Sentence>();
  for (const { subject, word, at, place } of hits) {
    let sentence = seen.get(word.sentence);
    if (sentence === undefined) {
      sentence = sentenceAt(text, words, at, own, names, askedFor);
      seen.set(word.sentence, sentence);
    }
    const { plain, somebody, asked, general } = sentence;
    if (subject === PAYS) {
      const paid = somebody && isPaid(unelided(word.plain), plain);
      // The word says what is spoken of; what is to be hidden are the sums.
      if (paid && !told.has(sentence)) {
        told.add(sentence);
        for (const { 0: sum, index } of text.slice(sentence.start, sentence.end).matchAll(AMOUNTS)) {
          const start = sentence.start + index;
          found.push({ entity: "SALARY", rule: "amount of pay", start, end: start + sum.length });
        }
      } else if (!paid && asked && asksForPay(plain))
        found.push({ entity: "SALARY", rule: "pay asked for", start: word.start, end: word.end });
      continue;
    }
    const claimed = subject.claims?.test(plain) === true;
    if (subject.asked === true && !asked) continue;
    if (general && !asked && !(claimed && somebody)) continue;
    if (subject.unless?.test(plain) === true || subject.with?.test(plain) === false) continue;
    if (
      place !== undefined &&
      isFigurative(plainOf(text.slice(sentence.start, place.start)), plainOf(text.slice(place.start, sentence.end)))
    )
      continue;
    if (!somebody && !claimed && !(subject.phrase !== undefined && isNamedBefore(names, sentence.start))) continue;
    const reach = subject.phrase === undefined ? { from: at, to: at } : reachOf(subject.phrase, words, at);
    if (reach === undefined) continue;
    const { start, end } = place ?? { start: words[reach.from]?.start ?? word.start, end: words[reach.to]?.end ?? word.end };
    found.push({ entity: subject.entity, rule: place?.rule ?? subject.rule, start, end });
  }
  return found;
}

/** Letters between a name and what notes go on to say of who has it: `Ginevra Morandini, Trieste. Iscritta alla CGIL.` */
const NOTES = 300;

function isNamedBefore(names: readonly number[], start: number): boolean {
  return start - (names[partitionPoint(names, (name) => name < start) - 1] ?? Number.NEGATIVE_INFINITY) <= NOTES;
}

interface Sentence {
  /** Lower case, without accents. */
  readonly plain: string;
  /** It is about one person. */
  readonly somebody: boolean;
  /** It asks about somebody by name. */
  readonly asked: boolean;
  /** It is about everybody. */
  readonly general: boolean;
  /** Where it stands in the text; `end` exclusive. */
  readonly start: number;
  readonly end: number;
}

/** Words looked at on either side, and letters of a word: texts are not always sentences. */
const LONGEST = 120;
const LONGEST_WORD = 40;

/** Sentences over which somebody who was named is still spoken of. */
const CARRIED = 3;

/** The sentence of a word. A sentence that names nobody is about whom those before it are about. */
function sentenceAt(
  text: string,
  words: readonly Word[],
  at: number,
  own: ReadonlySet<string>,
  names: readonly number[],
  askedFor: readonly number[],
): Sentence {
  const number = words[at]?.sentence ?? 0;
  let from = at;
  while (from > 0 && at - from < LONGEST && words[from - 1]?.sentence === number) from--;
  let to = at;
  while (to + 1 < words.length && to - at < LONGEST && words[to + 1]?.sentence === number) to++;
  const start = words[from]?.start ?? 0;
  const end = words[to + 1]?.start ?? text.length;
  const plain = plainOf(text.slice(Math.max(0, start - 1), end)).replace(/\s+/g, " ");
  const about = (first: number, last: number): boolean => {
    if (isAboutSomebody(words, first, last, text, own)) return true;
    const [a, b] = [words[first]?.start ?? 0, words[last]?.end ?? 0];
    return (names[partitionPoint(names, (name) => name < a)] ?? b) < b;
  };
  const general = GENERAL.test(plain);
  let somebody = about(from, to);
  // Notes name whom they are about once, and then tell sentence by sentence.
  for (let behind = from, sentences = 0; !somebody && !general && behind > 0 && sentences < CARRIED; sentences++) {
    let before = behind - 1;
    const previous = words[before]?.sentence;
    while (before > 0 && behind - before < LONGEST && words[before - 1]?.sentence === previous) before--;
    somebody = about(before, behind - 1);
    behind = before;
  }
  if (!somebody && !general) somebody = isTakenUp(words, to + 1, own) && about(to + 1, clauseEnd(words, to + 1));
  const last = words[to]?.end ?? 0;
  const asked = (askedFor[partitionPoint(askedFor, (place) => place < start)] ?? last) < last;
  return { plain, somebody, asked, general, start: Math.max(0, start - 1), end };
}

/** Third persons that take up who the sentence before was about. */
const TAKES_UP = /^(?:she|he|she's|he's|her|his|sie|er|elle|il|lui|ella|el|lei|ela|ele|zij|hij|ze|hon|han)$/;

/** True where the next clause goes on about somebody: `Saoirse is pregnant?? She told Megan`, `showed colitis; I have started her on mesalazine`. */
function isTakenUp(words: readonly Word[], next: number, own: ReadonlySet<string>): boolean {
  const first = words[next];
  if (first === undefined) return false;
  return first.gap.trim() === ";" || (TAKES_UP.test(first.plain) && (own.has(first.plain) || first.plain.length > 2));
}

/** Index of the last word of the clause that begins at `from`. */
function clauseEnd(words: readonly Word[], from: number): number {
  let to = from;
  while (to + 1 < words.length && to - from < LONGEST && words[to + 1]?.sentence === words[from]?.sentence) to++;
  return to;
}
