const setOf = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));
const anyOf = (text: string): RegExp => new RegExp(`^(?:${text.trim().replace(/\s+/g, "|")})$`);

// Chapters of ICD-10, stems of the International Nonproprietary Names (WHO) for drugs.

/** Organs and tissues of medicine's Greek and Latin; with a suffix of disease they name one in all these languages. */
const ROOTS =
  "arthr|oste|bronch|pneum|hepat|gastr|enter|col|cyst|mening|pancreat|nephr|neur|tendin|sinus|conjunctiv|appendic|encephal|ot|rhin|phleb|thromb|vascul|myel|my|spondyl|derm|dermat|tonsill|laryng|pharyng|prostat|vagin|end|peri|card|cardi|endocardi|pericardi|myocardi|divertikul|diverticul|thyr|thyroid|lymph|blephar|fibr|cirrh|scler|skler|stenos|thrombo|tubercul|psych|neuro|endometri|psori|cystic fibr|alveol|kyph|scoli|lord|nekr|necr|mukoviszid";
const DISEASE = new RegExp(
  `^(?:\\w{0,8})?(?:${ROOTS})o?(?:itis|itides|ite|iti|itide|ites|itida|osis|oses|ose|osi|osen|iasis|iase|iasi)$|(?:aemia|emia|amie|emie|aemie)$|(?:carcin|sarc|lymph|melan|glauc|blast|aden|fibr|my|gli|mesotheli|neur)om(?:a|as|e|i|en|es|ata)?$|alg(?:ia|ie|ien|ias)$|(?:cardiomy|neur|nephr|retin|encephal|arthr|my|angi)opat(?:hy|hie|ia)$|pleg(?:ia|ie)$|phren(?:ia|ie|ic)$|^(?:mast|hyster|append|vas|tonsill|colect|lump|thyroid)ectom(?:y|ie|ia)$`,
);
const DISEASE_NOT = setOf(
  "academia bohemia premia biochemie nostalgia nostalgie chemie akademie academie limosine diploma aroma genoma bohemie boheme alchemie polemie",
);
const ILL = anyOf(
  `diabet\\w* zuckerkrank asthm\\w* astma asma cancers? tumou?rs? tumeurs? tumores? krebs \\w{3,}krebs cancer cancere cancro kanker \\w{3,}kanker metasta\\w+ depress(?:ion|ions|ionen|ed|ive|iv|ione|ao) depresion depressie hypertens\\w+ hipertens\\w+ ipertens\\w+ bluthochdruck hochdruck bloeddruk
  epileps\\w+ epilep\\w+ migraines? migran\\w* emicrania migrane enxaqueca hiv vih aids sida copd adhd adhs tdah autis\\w+ parkinson(?:'s)? alzheimer(?:'s)? dementia demenz demencia demenza dementie sclerosis sklerose sclerose esclerosis esclerose sclerosi schizophren\\w+ esquizofren\\w+ schizofren\\w+ bipolar bipolaire anorexi\\w+ bulimi\\w+ alcoholi[cs]\\w* alkoholiker\\w* addict(?:ed|ion) drogensuchtig alkoholabhangig lupus crohn(?:'s)? colitis psoriasis psoriase eczema ekzem eksem leuk\\w*mi\\w* leucem\\w+ leucemie stroke schlaganfall ictus infarct\\w* infarkt herzinfarkt infarctus infarto beroerte angina arrhythmi\\w+ fibrillation
  pregnan(?:t|cy|cies) schwanger schwangerschaft enceinte grossesse embarazad[ao] embarazo incinta gravidanza gravida gravidez zwanger zwangerschap miscarri\\w+ fehlgeburt abortion ivf chemo\\w* chimio\\w* quimio\\w* dialys\\w+ dialisis biops\\w+ transplant\\w* hospitali[sz]ed krankgeschrieben krankschreibung burnout burn-out insomni\\w* ptsd suicid\\w+ selbstmord\\w* overdose\\w* seizures? concussion hernia ulcers? gout gicht gotta rheuma\\w* reuma\\w* arthros\\w+ artros\\w+ arthrit\\w+ artrit\\w+ bronchit\\w+ bronquit\\w+ hepatit\\w+ pneumoni\\w+ neumonia polmonite pneumonie lungenentzundung longontsteking tuberculos\\w+ tuberkulose syphilis chlamydia herpes gonorrh\\w+ co?eliac\\w* celiach\\w+ co?eliaqu\\w+ zoliaki\\w* thyroid obes(?:e|ity) covid(?:-19)? influenza fracture[ds]? wheelchair rollstuhl schwerbehindert\\w* behindert behinderung handicape\\w* disability incontinen\\w+ infertil\\w+ menopaus\\w+ endometriosis endometriose tumor malaria anemi\\w+ anaemi\\w+ anamie allerg(?:ic|y|ies|ie|ia|isch) unfruchtbar antidepress\\w+ psychosis psychose anxiety angststorung magersucht`,
);
const DRUG =
  /^(?:[a-z]{3,}(?:sartan|statine?|azepam|oxetine?|prazole?|prazolo|cillin[ae]?|mycin[ae]?|gliptine?|formine?|afil|conazole?|cyclin[ae]?|dronate|floxacine?|gliflozin[ae]?|lukast|parin[ae]?|setron|triptan|vudine?|tinib|zumab|limumab|ximab|mumab|vir|thiazide?|olol|dipine?|dipino|pidem|idone?|zapine?|tiapine?|trexate?|trexat|trexaat|trexato|traline?|alopram|profene?|profeno|thyroxine?|farine?|farin)|[a-z]{2,}(?:pril|prilo)|insulin[ae]?|ritalin|prozac|xanax|valium|lithium|aspirin[ae]?|paracetamolo?|morphine?|morphium|methadone?|cortisone?|prednison(?:e|a|on)?|prednisolone?)$/;
const DRUG_NOT = setOf("april reservoir avoir savoir devoir pouvoir elixir souvenir contro patrol control protocol petrol");

/** True for a word that names an illness or a state of health; `plain`: without accents, in lower case. */
export function isIllness(plain: string): boolean {
  return ILL.test(plain) || (plain.length > 5 && DISEASE.test(plain) && !DISEASE_NOT.has(plain));
}

/** True for the name of a drug. */
export function isDrug(plain: string): boolean {
  return DRUG.test(plain) && !DRUG_NOT.has(plain);
}
