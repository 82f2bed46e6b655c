import { EVERYDAY_HEALTH } from "./everyday-health.ts";
import { CHANCE_ENDINGS, DRUGS, ILLNESSES } from "./health-lexicon.ts";

const setOf = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));
const anyOf = (text: string): RegExp => new RegExp(`^(?:${text.trim().replace(/\s+/g, "|")})$`);

// Chapters of ICD-10, stems of the International Nonproprietary Names (WHO) for drugs.

/** Organs and tissues of medicine's Greek and Latin; with a suffix of disease they name one in all these languages. */
const ROOTS =
  "arthr|oste|bronch|pneum|hepat|gastr|enter|col|cyst|mening|pancreat|nephr|neur|tendin|sinus|conjunctiv|appendic|encephal|ot|rhin|phleb|thromb|vascul|myel|my|spondyl|derm|dermat|tonsill|laryng|pharyng|prostat|vagin|card|cardi|endocardi|pericardi|myocardi|divertikul|diverticul|thyr|thyroid|lymph|blephar|fibr|cirrh|zirrh|scler|skler|stenos|thrombo|tubercul|psych|neuro|endometri|psori|cystic fibr|alveol|kyph|scoli|lord|nekr|necr|mukoviszid";
const DISEASE = new RegExp(
  `^(?:\\w{0,8})?(?:${ROOTS})o?(?:itis|itides|ite|iti|itide|ites|itida|osis|oses|ose|osi|osen|iasis|iase|iasi)$|(?:aemia|emia|amie|emie|aemie)$|(?:carcin|sarc|lymph|melan|glauc|blast|aden|fibr|my|gli|mesotheli|neur)om(?:a|as|e|i|en|es|ata)?$|alg(?:ia|ie|ien|ias)$|\\w{3,}opat(?:hy|hie|ia)$|pleg(?:ia|ie)$|phren(?:ia|ie|ic)$|\\w{3,}(?:ectom|ostom)(?:y|ie|ia)$|(?:arthro|broncho|colono|gastro|endo|cysto|laparo|rekto|recto|hystero)(?:scop|skop)(?:y|ie|ia)$|\\w{3,}(?:plastik|plasty)$|(?:cardio|kardio|mammo|echo|angio|uro|sono|encephalo|enzephalo|tomo|radio|eco)(?:gram(?:m|me|ma|a)?|gra(?:ph|f)(?:y|ie|ia))$|(?:chemo|chimio|quimio|radio|immun[eo]?|inmuno|imuno|hormon[eo]?|psycho|psico|physio|fisio|kryo|cryo|crio|strahlen)th?erap\\w+$|centesis$|ph?eresis$`,
);
const DISEASE_NOT = setOf(
  "epidemie epidemia epidemii pandemie pandemia pandemii premie premien pramie pramien chemia accademia systemie programie problemie ziemie homeopathy homeopathie homeopatia homoopathie osteopathy osteopathie osteopatia telepathy telepathie telepatia antipathy antipathie antipatia naturopathy naturopathie radiogram radiogramm academia bohemia premia biochemie nostalgia nostalgie chemie akademie academie limosine diploma aroma genoma bohemie boheme alchemie polemie",
);
const ILL = anyOf(
  `diabet\\w* zuckerkrank asthm\\w* astma asma cancers? tumou?rs? tumeurs? tumores? krebs \\w{3,}krebs cancer cancere cancro kanker \\w{3,}kanker metasta\\w+ depress(?:ion|ions|ionen|ed|ive|iv|ione|ao) depresion depressie hypertens\\w+ hipertens\\w+ ipertens\\w+ bluthochdruck hochdruck bloeddruk
  epileps\\w+ epilep\\w+ epiless\\w+ migraines? migranas? migranen? migrane\\w{4,} emicrania migrane enxaqueca hiv vih aids sida copd adhd adhs tdah autis\\w+ parkinson(?:'s)? alzheimer(?:'s)? dementia demenz demencia demenza dementie sclerosis sklerose sclerose esclerosis esclerose sclerosi schizophren\\w+ esquizofren\\w+ schizofren\\w+ bipolar bipolaire anorexi\\w+ bulimi\\w+ alcoholi[cs]\\w* alkoholiker\\w* addict(?:ed|ion) drogensuchtig alkoholabhangig lupus crohn(?:'s)? colitis psoriasis psoriase eczema ekzem eksem leuk\\w*mi\\w* leucem\\w+ leucemie stroke schlaganfall ictus infarct\\w* infarkt herzinfarkt infarctus infarto beroerte angina arrhythmi\\w+ fibrillation
  pregnan(?:t|cy|cies) schwanger schwangerschaft enceinte grossesse embarazad[ao] embarazo incinta gravidanza gravida gravidez zwanger zwangerschap miscarri\\w+ fehlgeburt abortion ivf chemo\\w* chimio\\w* quimio\\w* dialys\\w+ dialisis biops\\w+ transplant\\w* hospitali[sz]ed krankgeschrieben krankschreibung burnout burn-out insomni\\w* ptsd suicid\\w+ selbstmord\\w* overdose\\w* seizures? concussion hernia ulcers? gout gicht gotta rheuma\\w* reuma\\w* arthros\\w+ artros\\w+ arthrit\\w+ artrit\\w+ bronchit\\w+ bronquit\\w+ hepatit\\w+ pneumoni\\w+ neumonia polmonite pneumonie lungenentzundung longontsteking tuberculos\\w+ tuberkulose syphilis chlamydia herpes gonorrh\\w+ co?eliac\\w* celiach\\w+ co?eliaqu\\w+ zoliaki\\w* thyroid obes(?:e|ity) covid(?:-19)? influenza fracture[ds]? wheelchair rollstuhl schwerbehindert\\w* behindert behinderung handicape\\w* disability incontinen\\w+ infertil\\w+ menopaus\\w+ endometriosis endometriose tumor malaria anemi\\w+ anaemi\\w+ anamie allerg(?:ic|y|ies|ie|ia|isch) unfruchtbar antidepress\\w+ psychosis psychose anxiety angststorung magersucht`,
);
const DRUG =
  /^(?:[a-z]{3,}(?:sartan|statine?|azepam|oxetine?|prazole?|prazolo|cillin[ae]?|mycin[ae]?|gliptine?|formine?|afil|conazole?|cyclin[ae]?|dronate|floxacine?|gliflozin[ae]?|lukast|parin[ae]?|setron|triptan|vudine?|tinib|zumab|limumab|ximab|mumab|vir|thiazide?|olol|dipine?|dipino|pidem|idone?|zapine?|tiapine?|trexate?|trexat|trexaat|trexato|traline?|alopram|profene?|profeno|thyroxine?|farine?|farin)|[a-z]{2,}(?:pril|prilo)|insulin[ae]?|ritalin|prozac|xanax|valium|aspirin[ae]?|paracetamolo?|morphine?|morfina?e?|morphium|metadona?e?|methadone?|lith?ium|litio|cortisone?|prednison(?:e|a|on)?|prednisolone?)$/;
const DRUG_NOT = setOf(
  "servir sobrevivir convivir intervir revivir hervir vivir april reservoir avoir savoir devoir pouvoir elixir souvenir contro patrol control protocol petrol",
);

/** What the heads of compounds say in German, Dutch and Swedish, behind whatever they are joined to. */
const COMPOUND =
  /^\w{3,}(?:schmerz(?:en)?|entzundung(?:en)?|erkrankung(?:en)?|geschwure?|krebs|karzinome?|insuffizienz|infarkte?|lahmung(?:en)?|allergien?|infekt(?:e|ion(?:en)?)?|tumoren?|(?:lungen|hirn|quincke|lymph|papillen)odeme?|emboli(?:e|en)|zerrung|prellung|verstauchung|intoleranz|syndrome?|mangel|punktion|spiegelung|biopsien?|skopie|dialyse|implantat(?:ion)?|inkontinenz|fehlbildung|apnoe|unvertraglichkeit|transplantation|ausschlag|vergiftung(?:en)?|thrombosen?|sklerosen?|hypertonie|krankheit(?:en)?|spritzen?|allergiker(?:in)?|kranken?|pijn|ontsteking(?:en)?|ziekten?|aandoening(?:en)?|zweer|kanker|infarct|verlamming|allergie|infectie|gezwel|klachten|sjukdom|cancer|inflammation|vark|smarta|smartor)$/;
const COMPOUND_NOT = setOf(
  "gesundheitskrankheit pflanzenkrankheit pflanzenkrankheiten tierkrankheit kinderkrankheiten datenkrankheit spielkrankheit beachten schlachten",
);
/** Heads of many meanings: behind a part of the body they speak of an illness. */
const COMPOUND_OF_BODY =
  /^(?:herz|lungen?|leber|nieren?|magen|darm|brust|rucken|nacken|knie|huft\w?|schulter|knochel|handgelenks?|ellbogen|fuss|hand|bein|arm|finger|zehen?|augen?|ohren?|hals|zahn|haut|wirbel(?:saulen)?|bandscheiben?|blasen?|gallen?|prostata|gebarmutter|eierstock|schilddrusen?|knochen|gelenk|muskel|sehnen?|nerven|rippen|becken|schadel|kiefer|hirn|gehirn|blut|kreislauf|gefass|bauch|unterleibs?|kreuzband|meniskus|schlaf|angst|panik|ess|zwangs|belastungs|anpassungs|personlichkeits|konzentrations|lern|sprach|seh|hor|geh|stoffwechsel|herzrhythmus|durchblutungs|alkohol|drogen|medikamenten|tabletten|kokain|heroin|sucht|hart|long|lever|nier|maag|borst|rug|nek|knie|heup|schouder|enkel|pols|voet|oog|oor|keel|tand|huid|blaas|schildklier|bot|gewricht|spier|hersen|buik|slaap|paniek|eet|dwang|persoonlijkheids|drugs)(?:s|en|n)?(?:bruch|riss|vorfall|versagen|operation|op|steine?|schwache|verletzung|blutung|beschwerden|probleme?|leiden|storung(?:en)?|anfalle?|attacken?|sucht|abhangig(?:keit)?|fehler|klappen\w*|prothese|therapie|tabletten|medikamente?|werte?|breuk|falen|stoornis(?:sen)?|stenen|bloeding|letsel|operatie|problemen|aanval(?:len)?|verslaving|verslaafd)$/;

/**
 * A word as the languages of Europe have it in common, which write the names of medicine each in its own way: `metformine`, `metformina` and `Metformin`, `hypertension`, `hipertensión` and
 * `ipertensione` are the same. `plain`: without accents, in lower case. Longer than four letters, what comes out hardly ever is that of another word.
 */
export function skeletonOf(plain: string): string {
  return plain
    .replace(/ae|oe/g, "e")
    .replace(/ph/g, "f")
    .replace(/qu|[ckqzx]|ch/g, "s")
    .replace(/h/g, "")
    .replace(/[yj]/g, "i")
    .replace(/w/g, "v")
    .replace(/st|tt/g, "t")
    .replace(/m(?=[^aeiou])/g, "n")
    .replace(/(?:[ts]i|s)(?:on|one|ones|oni|onen|e|es|en|a|as|ao|oes)$/, "w")
    .replace(/(.)\1+/g, "$1")
    .replace(/[aeiou]*s?$/, "");
}

const drugs = setOf(DRUGS);
const illnesses = setOf(ILLNESSES);
const chanceEndings = setOf(CHANCE_ENDINGS);
/** Gerunds of Spanish and Italian with a pronoun behind them: `haciéndose`, `facendosi`. */
const GERUND = /(?:ando|endo)(?:se|si|le|lo|la|me|mi|te|ti)$/;
const everyday = new Set(EVERYDAY_HEALTH.split(/[|\n]/).filter((name) => /^[a-z'-]+$/.test(name)));

/** Its skeleton, and that of it without the ending of a plural of German (`Arrhythmien`, `Migräneattacken`). */
function isKnown(known: ReadonlySet<string>, plain: string): boolean {
  return known.has(skeletonOf(plain)) || (plain.endsWith("en") && plain.length > 7 && known.has(skeletonOf(plain.slice(0, -2))));
}

/** Common words of these languages that sound like medicine; found by asking of the 150,000 commonest words which are taken for an illness. */
const NO_ILLNESS = setOf(
  "servir sobrevivir convivir intervir revivir hervir vivir sapremo pericoloso pericolosi pericolosa pericolose skeleton skeletons exemption exemptions reactive aggressiven erschaffen aanklachten opstijgen antritt proton protons atacando attaccando bahnhofen doorrijden toekomen fachkraftemangel indochine karotten jeremie ennemie gripping queridinha pulpito vorigen inattivita",
);

/** Shortest illness that is looked for at the end of a compound, and shortest word that it may be joined to. */
const TAIL = 6;
const JOINED = 3;

/** True for a compound whose last part names an illness: `Leberzirrhose`, `Hirn-Aneurysma`, `borstkanker`. */
function endsWithIllness(plain: string): boolean {
  const hyphen = plain.lastIndexOf("-");
  if (hyphen > 0) return HYPHENED.test(plain) || isIllness(plain.slice(hyphen + 1)) || isIllness(plain.slice(0, hyphen));
  for (let at = JOINED; at <= plain.length - TAIL; at++) {
    const tail = skeletonOf(plain.slice(at));
    if (illnesses.has(tail) && !chanceEndings.has(tail)) return true;
  }
  return false;
}
const HYPHENED = /-(?:krankheit|syndrom|storung|mangel|op|biopsie|punktion|implantat(?:ion)?|therapie)$/;

/** True for a word that names an illness or a state of health; `plain`: without accents, in lower case. */
export function isIllness(plain: string): boolean {
  if (NO_ILLNESS.has(plain)) return false;
  if (ILL.test(plain) || everyday.has(plain)) return true;
  if (plain.length < 5) return false;
  if (plain.length > 5 && DISEASE.test(plain)) return !DISEASE_NOT.has(plain) && !GERUND.test(plain);
  if (isKnown(illnesses, plain)) return true;
  if (plain.length > 9 && endsWithIllness(plain)) return true;
  return plain.length > 6 && (COMPOUND_OF_BODY.test(plain) || (COMPOUND.test(plain) && !COMPOUND_NOT.has(plain)));
}

/** True for the name of a drug. */
export function isDrug(plain: string): boolean {
  return DRUG.test(plain) ? !DRUG_NOT.has(plain) : plain.length > 4 && isKnown(drugs, plain);
}
