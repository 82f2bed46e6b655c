import { BRAND_BEHIND, BRANDS, COMPANIES } from "./companies.ts";
import { isDrug, isIllness } from "./health-words.ts";
import { FIRST_NAMES, LAST_NAMES, PLACES, WORDLIKE_FIRST_NAMES, WORDLIKE_LAST_NAMES } from "./names.ts";
import { plainOf, unelided, type Word, wordsIn } from "./words.ts";
import { FAMILY_ENDINGS, NAMES_BEFORE, PINYIN_NAME, WORLD_FIRST_NAMES, WORLD_LAST_NAMES } from "./world-names.ts";

/** A place in the folded text, and the rule that found it. */
export interface ProseSpan {
  readonly entity: string;
  readonly rule: string;
  readonly start: number;
  readonly end: number;
}

const setOf = (text: string, separator = " "): Set<string> => new Set(text.split(separator));
const FIRST = setOf(FIRST_NAMES);
const WORDLIKE_FIRST = setOf(WORDLIKE_FIRST_NAMES);
const LAST = setOf(LAST_NAMES);
const WORDLIKE_LAST = setOf(WORDLIKE_LAST_NAMES);
for (const name of WORLD_FIRST_NAMES.split(" ")) if (!WORDLIKE_FIRST.has(name)) FIRST.add(name);
for (const name of WORLD_LAST_NAMES.split(" ")) if (!WORDLIKE_LAST.has(name)) LAST.add(name);
const BEFORE_GIVEN = setOf(NAMES_BEFORE);
const PLACE = setOf(PLACES, "|");

/** Whether a word of a text is a given name that is hardly anything else. */
export function hasGivenName(text: string): boolean {
  return wordsIn(text).some(({ plain }) => FIRST.has(plain));
}

/** True for letters that are a given name and hardly anything else; without accents, in lower case. */
export const isGivenName = (name: string): boolean => FIRST.has(name);
/** The same of a family name. */
export const isFamilyName = (name: string): boolean => LAST.has(name);

const TITLES = setOf(
  "mr mrs ms miss mx dr prof professor doctor sir madam lord lady herr herrn frau monsieur madame mademoiselle mme mlle m senor senora senorita sr sra srta signor signora signorina sig dott dottor dottoressa senhor senhora dona don dna mevrouw meneer dhr mevr heer pani pan rev reverend rabbi sheikh judge justice sgt sergeant inspector detective constable captain maitre docteur professeur ingegner ingegnere avvocato architetto ragionier ragioniere geometra onorevole maestra ingeniero ingeniera licenciado licenciada abogado abogada profesor profesora doctora doutor doutora engenheiro engenheira advogado advogada professora mecenas doktor profesor sayin cllr councillor alderman pastor vicar imam capt lt cpl supt insp frl pfarrer pfarrerin exmo exma excmo excma drs burgemeester wethouder dominee pastoor",
);
/** `M` is a title in French alone, `don` and `pan` are words. */
const WEAK_TITLES = setOf(
  "councillor alderman pastor vicar imam lt pfarrer pfarrerin burgemeester wethouder dominee pastoor m pan don dna lady lord sir heer judge justice captain inspector detective constable rabbi sheikh maestra mecenas doktor profesor sayin",
);
/** Forms of address that are other words too (`mag`, `HR`): only as abbreviations, with a capital, small letters and a full stop. */
const DOTTED_TITLES = setOf("hr fr mag ing avv arch geom rag dra dna lic mevr dhr");
/** What Italian puts behind a title for a woman: `Sig.ra`, `Dott.ssa`. */
const TITLE_ENDINGS = setOf("ra na ssa");
/** Parts of family names between given name and name. */
const PARTICLES = setOf(
  "de del della dell di da do dos das du des la le van von der den ter ten zu zum el al bin ben ibn y e af av lo",
);
/** Those of them that are articles of German as well. */
const ARTICLES = setOf("das der den des");
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
  der die das ein eine und oder aber ich du er sie es wir ihr mein dein sein unser bitte danke hallo liebe lieber liebes sehr geehrte geehrter guten herzliche viele freundliche freundlichen beste grusse gruss namen kunde kundin mitarbeiter mitarbeiterin patientin bei nach fur von mit auf aus am im zum zur
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
  "web nan dev vite perl baz pathe world promise machine thread snapshots folks guys everyone everybody friends colleagues bixby jenkins kafka tesla dell ford grafana ansible gradle docker haskell scala ubuntu debian fedora macy mcdonald mcdonalds ibm visa nokia siemens bosch hamlet macbeth shakespeare einstein newton darwin mozart beethoven bach picasso google apple amazon microsoft netflix uber slack zoom github gitlab jira twitter facebook instagram linkedin meta openai chatgpt copilot stripe paypal comcast verizon vodafone telekom kubernetes terraform helm splunk datadog salesforce oracle sap intel nvidia amd accounts payable receivable team admin",
);
/** What is called after who found it. */
const EPONYMOUS = setOf(
  "method law laws theorem lemma principle rule rules algorithm equation equations inequality conjecture disease syndrome paradox constant formula transform distribution test effect number numbers model sort razor hypothesis identity criterion matrix triangle ladder dilemma curve razors paradoxes",
);
/** First names that alone are mostly programs and products. */
const NOBODY_ALONE = setOf(
  "roma morgan warner levi alexa siri cortana gemini claude watson cassandra julia ruby pascal ada linus zara hermes celine wendy denny molly polly django flask maven elixir",
);
const GREETINGS = setOf(
  "hi hello hey dear morning afternoon evening thanks hallo liebe lieber moin servus salut bonjour bonsoir cher chere hola querido querida estimado estimada buenos ciao caro cara buongiorno gentile egregio ola bom hoi beste dag geachte oi opa oie hej hejsan halla tjena czesc witaj drogi droga szanowny szanowna merhaba selam sayin sevgili ahoj szia kedves salaam salam namaste yo heya hiya howdy welcome congrats congratulations bravo sorry kudos gefeliciteerd auguri parabens felicidades felicitations bienvenue bienvenido bienvenida willkommen gluckwunsch merci danke gracias grazie obrigado obrigada bedankt dank tack dzieki hei moi prezado prezada caros caras carissimo carissima gentilissimo gentilissima spettabile stimato stimata exmo exma apreciado apreciada distinguido distinguida werter werte verehrte verehrter lieve drodzy kochany kochana degerli",
);
/** What is done to or by people: a lone name beside one of these is somebody. */
const TO_PEOPLE = setOf(
  `ask asked tell told thank thanks call called phone ping email emailed mail message text remind invite invited meet met with and by from for to cc see saw contact introduce introducing approve of about fyi copying looping cced nudge brief interview hire hired promote promoted fire fired thanking congratulate loves hates misses dating married divorced
  frag frage ruf sag mit von und fur an bei grusse demande appelle dis avec et de pour a chez pregunta llama dile con y para chiedi chiama di pergunta liga vraag bel zeg met van en voor aan bitte treffe triff schreib erinnere appelez demandez prevenez contacte llame avisa avise escribe scrivi avvisa sentito manda fala falei falar avisa bel app mail zapytaj zadzwon fraga ring sor ara`.replace(
    /\s+/g,
    " ",
  ),
);
const BY_PEOPLE = setOf(
  `said says told asked asks wants wanted thinks knows called calls wrote writes works worked lives lived was is has had will would joined left quit earns makes reports reported complained complains agreed signed sent met and came went took can does did starts started confirmed replied mentioned suggested emailed phoned texted resigned forgot insisted promised apologised apologized arrived moved lives resigned prefers loves hates hopes feels needs got gets gave took brought booked asked raised flagged noticed fixed broke owes lent borrowed pays paid
  meinte meint schrieb rief kam ging braucht bekommt mochte fahrt bleibt sucht hatte sagt sagte will hat ist war wurde fragt arbeitet wohnt verdient kommt und dit a est veut habite travaille gagne touche souffre dice dijo es esta tiene vive quiere trabaja gana cobra ha vuole abita lavora guadagna soffre disse tem mora quer trabalha ganha sofre zei zegt heeft wil woont werkt verdient lijdt zoekt was wordt pediu pede falou mandou ligou escreveu chegou saiu disse fica precisa llamo llama pidio escribio llego necesita dijo chiesto chiede scritto arriva arrivato vuole chiama demande demandait appelle arrive part envoie ecrit vroeg belde kwam gaat mowi powiedzial powiedziala prosi ma chce pisze dzwonil dzwonila sager sa vill har kommer ar bor jobbar dedi diyor istiyor calisiyor geldi`.replace(
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
  `patient customer client employee colleague manager boss nurse coach janitor receptionist pupil trainee intern tenant landlord beneficiary holder user member student teacher witness contact wife husband son daughter brother sister mother father friend neighbour neighbor named name is by from
  patientin kunde kundin mitarbeiter mitarbeiterin kollege kollegin mieter mieterin chef chefin versicherte patiente cliente collegue salarie salariee locataire paciente empleado empleada colega inquilino paziente dipendente collega inquilina funcionario funcionaria patient klant medewerker collega huurder colaborador colaboradora gestante aluno aluna impiegato impiegata allievo allieva eleve trabajador trabajadora alumno alumna schuler schulerin bewerber bewerberin auszubildende azubi leerling werknemer werkneemster pracownik pracownica pacjent pacjentka klientka uczen uczennica kollega patienten eleven anstalld hasta calisan ogrenci`.replace(
    /\s+/g,
    " ",
  ),
);
/** What only people do. */
const LIVES = setOf(
  "lives lived quit thinks knows joined earns complains works worked resigned texted phoned forgot replied emailed starts apologised apologized arbeitet wohnt kundigte glaubt habite vive travaille lavora abita trabaja trabalha mora woont werkt",
);
/** Those of one's own, and of one's work, who go by a name. */
const KIN = setOf(
  `wife husband son daughter brother sister uncle aunt cousin boyfriend girlfriend fiance fiancee colleague coworker boss kollege kollegin freund freundin bruder schwester sohn tochter femme mari frere soeur fils fille ex spouse nephew niece grandson granddaughter grandmother grandfather stepson stepdaughter
  sohnes bruders vaters mannes freundes kollegen enkel enkels enkelin neffe neffen nichte onkel onkels cousine compagnon compagne neveu oncle copain copine esposa esposo marido hermano hermana hijo hija moglie fratello sorella figlio figlia irmao irma filho filha broer zus zoon dochter collega primo prima sobrino sobrina novio novia nieto nieta suegra suegro cunado cunada jefe jefa cugino cugina nipote fidanzato fidanzata suocera suocero cognato cognata sobrinho sobrinha namorado namorada neto neta sogra sogro cunhado cunhada vriend vriendin neef nicht oom tante buurman buurvrouw syn corka siostra dotter bror syster`.replace(
    /\s+/g,
    " ",
  ),
);
/** Labels of forms whose value is a name. */
const LABELS = setOf(
  "name names customer client patient employee contact from to cc attn attention beneficiary holder tenant user author signed nom prenom nombre nome naam vorname nachname kunde kundin patientin mitarbeiter cliente paziente klant beneficiario beneficiaire empfanger",
);
/** Words that introduce somebody by name: `my name is`, `ich heiße`. */
const INTRODUCES =
  /(?:\bname is|\bname's|\bnamed|\bcalled|\bi am|\bi'm|\bich heiss?e|\bheisst|\bmein name ist|\bm'appelle|\bs'appelle|\bmon nom est|\bme llamo|\bse llama|\bmi nombre es|\bmi chiamo|\bsi chiama|\bil mio nome e|\bme chamo|\bmeu nome e|\bik heet|\bmijn naam is|\bnazywam sie|\bin the name of|\bunder the name(?: of)?|\bauf den namen|\bau nom de|\ba nombre de|\ba nome di|\bem nome de|\bop naam van|\bna nazwisko)\s{1,3}$/;
const SIGN_OFF =
  /(?:regards|sincerely|cheers|best|faithfully|yours|thanks|thank you|love|gruss(?:e|en)?|cordialement|bien a (?:toi|vous)|saluti|saludos?|cumprimentos|abracos?|groet(?:en|jes)?|hochachtungsvoll|merci|danke|grazie|gracias|obrigad[oa]|\b(?:ta|thx|tx|bye|ciao|tschuss|bis bald|bis dann|a bientot|hasta luego|un abrazo|ate logo|tot ziens|doei|hej da|czesc|lg|vg|mfg|mvg|mvh|vh|gr|rgds|br|kr|xx|att|abs|bjs|take care|all the best|talk soon|warmly|respectfully|bises|bisous|amicalement|amities|atentamente|atenciosamente|besos|baci|a presto|beijos|pozdrawiam|z powazaniem|halsningar|vanliga halsningar|hilsen|saygilarimla|saygilar|sevgiler|iyi calismalar))[,.!]?\s{0,3}[\r\n>\s]{1,6}[-–—~]? ?$/;
/** The end of a mail or of a line of chat: `thanks, Njoroge`. */
const THANKS =
  /(?:^|[\s.!?])(?:thanks|thank you|cheers|ta|merci|danke|gracias|grazie|obrigad[oa]|bedankt|tack|dzieki|tesekkurler)(?: (?:so much|a lot|again|in advance|vielmals|beaucoup|mille))?,? $/;
/** What only somebody does, of whom nothing else is known. */
const HUMAN = setOf(
  "resigned texted phoned smiled laughed cried forgot apologised apologized slept fainted limped sneezed coughed gekundigt kundigte weinte lachte vergass demissionne oublie renuncio olvido dimesso dimenticato esqueceu demitiu-se vergat zrezygnowal zrezygnowala",
);
/** `Rob will revise it`: what only somebody will do, behind a name that is a word and opens the sentence. */
const WILL =
  /^ (?:will|can|could|should|would|is going to|has to|needs to|wants to|agreed to|promised to|offered to|to) (?:revise|send|call|check|talk|ask|write|join|take|bring|speak|follow|handle|review|cover|draft|present|prepare|organi[sz]e|contact|arrange|lead|attend|travel|reply|answer|email|phone|text|chase|meet|visit|drive|pick|help|look|update|share|own|tell|finish|do|set|be (?:late|in|out|there|away|back|off))\b|^ (?:said|says|told|asked|asks|thinks|thought|knows|called|wrote|lives|joined|quit|earns|complained|agreed|confirmed|replied|mentioned|suggested|emailed|phoned|texted|resigned|forgot|insisted|promised|apologi[sz]ed)\b|^ (?:is|was|has been) (?:on (?:leave|holiday|vacation|parental|maternity|sick)|off (?:sick|today|tomorrow)|out (?:sick|today|tomorrow)|sick|ill|late|pregnant|upset|angry|happy|away|back)\b/;

/** `Chema me dijo que ...`, `Saoirse is pregnant`: what only somebody says to us, and how only somebody is, in seven languages and behind a name that nobody knows. */
const SOMEBODY =
  /^ (?:(?:told|asked|texted|called|emailed|messaged|phoned|pinged|promised|reminded|owes) (?:me|us)\b|(?:me|nos) (?:ha |han |habia )?(?:dijo|dicho|conto|contado|pidio|pedido|llamo|llamado|pregunto|escribio|disse|contou|pediu|ligou|perguntou|falou)\b|m'a (?:dit|demande|appele|raconte|ecrit)\b|(?:nous|me) (?:dit|demande) |(?:mi|ci) (?:ha (?:detto|chiesto|chiamato|scritto|raccontato)|dice|diceva)\b|hat (?:mir|mich|uns) (?:[\p{L}]{1,12} )?(?:gesagt|erzahlt|geschrieben|gefragt|angerufen)\b|(?:sagte|erzahlte|schrieb|fragte) (?:mir|mich|uns)\b|(?:heeft|had) (?:me|mij|ons) (?:verteld|gezegd|gevraagd|gebeld)\b|(?:zei|vertelde|vroeg) (?:me|mij|ons|tegen)\b|(?:is|was) (?:pregnant|married|divorced|widowed|on (?:maternity|paternity|parental) leave|off sick)\b|(?:ist|war) (?:schwanger|krankgeschrieben|verheiratet|geschieden|verwitwet|in elternzeit|im mutterschutz)\b|est (?:enceinte|mariee?|divorcee?|veuve|veuf)\b|esta (?:embarazada|casad[oa]|divorciad[oa]|de baja|gravida|gestante)\b|e (?:incinta|sposat[oa]|divorziat[oa]|vedov[oa]|casad[oa])\b|is (?:zwanger|getrouwd|gescheiden|ziek gemeld)\b)/u;
/** Whom such sentences begin with without a name. */
const ANYBODY = setOf(
  `someone somebody anyone anybody nobody everyone everybody one mum mom mummy mommy dad daddy grandma grandpa granny who
  jemand niemand keiner keine jeder jede alle man wer mama papa mutti vati oma opa
  quelqu'un personne tout tous chacun qui on maman
  alguien nadie todos todo quien uno una qualcuno nessuno tutti chi mamma babbo nonna nonno alguem ninguem quem mae pai
  iemand niemand iedereen men wie`.replace(/\s+/g, " "),
);
/** Whom one is to ask for, or to tell. */
const ASKED_FOR =
  /\b(?:ask(?:ing)? for|frag(?:en|t)? (?:sie )?(?:bitte )?nach|demande[rz] (?:a parler a )?|pregunt(?:ar|e|a|en) por|chied(?:ere|i|a|ete) di|pergunt(?:ar|e|a) (?:por|pel[oa])|vra(?:ag|gen) naar|powiedz|zapytaj(?: o)?|daj znac|zadzwon do) $/;
/** Who somebody is before a court or in a contract, behind the name. */
const PARTY =
  /^,? ?\((?:the )?["']?(?:(?:first|second|third) )?(?:claimant|defendant|plaintiff|respondent|applicant|appellant|petitioner|complainant|tenant|landlord|buyer|seller|purchaser|vendor|borrower|lender|employee|guarantor|testator|klager(?:in)?|beklagter?|mieter(?:in)?|vermieter(?:in)?|demandeu(?:r|se)|defendeu(?:r|resse)|locataire|bailleur|demandante|demandad[oa]|arrendatari[oa]|attore|attrice|convenut[oa]|locator[e]|conduttore|autora?|re[u]|eiser(?:es)?|gedaagde|huurder|verhuurder)\b/;

/** An age or a birth behind a name. */
const AGED = /^,? (?:\(|aged )?\d{2}(?!\d)|^,? \(?(?:born|b\.|geb|nee? |nacid|nat[oa] |nascid|\*)/;

/** What a capitalised word may be in a name. */
interface Part {
  readonly first: "yes" | "word" | "no";
  readonly last: "yes" | "word" | "no";
}
const OTHER: Part = { first: "no", last: "no" };

function partOf(word: Word): Part {
  const name = word.plain.endsWith("'s") ? word.plain.slice(0, -2) : word.plain;
  if (NO_NAMES.has(word.plain) || NO_PERSONS.has(word.plain) || NO_NAMES.has(name) || NO_PERSONS.has(name)) return OTHER;
  const first = inEither(name, FIRST, WORDLIKE_FIRST);
  const last = inEither(name, LAST, WORDLIKE_LAST);
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
        end: endOf(words[rule.last] ?? word),
      });
    i = rule.last;
  }
  return found;
}

/** The end of a name, without what makes it a possessive: `Oscar's`. */
function endOf(word: Word): number {
  return word.plain.endsWith("'s") && word.end - word.start === word.plain.length ? word.end - 2 : word.end;
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
    // `Zineb El Amrani`, `Luca Di Maio`
    const following = words[i + 1];
    if (
      PARTICLES.has(word.plain) &&
      NO_NAMES.has(word.plain) &&
      joined &&
      !isHeadline(words) &&
      FIRST.has(words[i - 1]?.plain ?? "") &&
      following?.gap === " " &&
      following.capitalised &&
      !NO_NAMES.has(following.plain)
    )
      continue;
    // `hab Luisa das Passwort gegeben`: an article of German before its noun.
    if (
      ARTICLES.has(words[i - 1]?.plain ?? "") &&
      !/^(?:von|van|zu)$/.test(words[i - 2]?.plain ?? "") &&
      partOf(word).last === "no"
    )
      break;
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
  const called = unelided(before.plain);
  // `ANDERSSON/KARIN MRS. Passport ...`: the title of what stands before it.
  if (TITLES.has(called) && !(before.capitals && words[at - 2]?.gap === "/")) return called;
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

/** What stands before the name on a card or of an account. */
const NAMES_HOLDER =
  /(?:\bname|holder|payee|beneficiary|inhaber(?:in)?|titulaire|titular|intestatari[oa]|houder|naam|\bnom|nombre|\bnome)(?: is| ist| est| es)?[ :=]{1,3}$/i;

function isInitial(word: Word, text: string): boolean {
  if (word.end - word.start !== 1 || !/\p{Lu}/u.test(text[word.start] ?? "")) return false;
  // `name L Ferreira`
  return (
    text[word.end] === "." || (text[word.end] === " " && NAMES_HOLDER.test(text.slice(Math.max(0, word.start - 24), word.start)))
  );
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
  // `Newton's method`, `Moore's law`: who found it is not spoken of.
  if (behind?.gap === " " && EPONYMOUS.has(behind.plain) && words[last]?.plain.endsWith("'s") === true) return { last };
  if (behind?.gap === " " && BRAND_BEHIND.has(behind.plain) && !behind.capitalised) return { last };
  if (isCompany(words, from, last)) return { last };
  const called = titleBefore(text, words, from);
  const title =
    called !== undefined && (!WEAK_TITLES.has(called) || (called === "m" && word.gap.startsWith(".")) || partOf(word) !== OTHER);
  if (title && !NO_PERSONS.has(word.plain)) return { name: "after a title", last: Math.min(last, from + 3) };
  if (from === last && isListedPlace(text, words, from)) return { last };
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
  const kin = near !== undefined && word.gap === " " && KIN.has(near.plain);
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
  // `ARTHUR PENHALIGON (Claimant)`
  if (
    word.capitals &&
    first.first === "yes" &&
    rest.length > 0 &&
    rest.length < 3 &&
    PARTY.test(plainOf(text.slice(end, end + 40)))
  )
    return { name: "party", last };
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
    if (!headline && first.first === "no" && rest.length <= 2 && isFamilyFirst(words, from, last))
      return { name: "family name first", last };
    if (
      !headline &&
      first === OTHER &&
      rest.length === 1 &&
      !word.opens &&
      FAMILY_ENDINGS.test(words[last]?.plain ?? "") &&
      (speaks || isListed(text, word, end))
    )
      return { name: "ending of a family name", last };
    if (!headline && first.first === "no" && family !== "no" && rest.length === 1 && speaks) return { name: "family name", last };
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
    (partOf(behind).first === "yes" ||
      (partOf(behind).first === "word" && ENTRY.test(text.slice(behind.end, behind.end + 12)))) &&
    (first.last === "yes" || labelled)
  )
    return { name: "family name first", last: from + 1 };
  const after = plainOf(text.slice(end, end + 40));
  const endsHere = /^[ \t]*[.!]{0,3}[ \t]*(?:\r?\n|$)/.test(after);
  const thanked = THANKS.test(lead) && (first !== OTHER || (endsHere && !THINGS.has(word.plain)));
  const alone = signed && !THINGS.has(word.plain) && !PARTICLES.has(word.plain);
  if (introduced || greeted || thanked || alone || (labelled && first !== OTHER)) {
    if (PLACE.has(word.plain) && first.first === "no") return undefined;
    return NO_PERSONS.has(word.plain) ? undefined : { name: introduced ? "introduced" : "greeted or signed", last };
  }
  if (first.first === "yes" && !headline && !(isNobodyAlone(word.plain) && !role && !acts && !kin))
    return { name: "first name", last };
  if (
    first.first === "word" &&
    !headline &&
    !PLACE.has(word.plain) &&
    (acts || (object && near?.plain !== "to" && near?.plain !== "in")) &&
    (!word.opens || asked)
  )
    return { name: "first name", last };
  if (first === OTHER && kin && !headline) return { name: "kin", last };
  if (headline || PLACE.has(word.plain) || NO_PERSONS.has(word.plain) || isNobodyAlone(word.plain)) return undefined;
  // `Rob will revise it`, `Mark said`: what the name means beside it does none of it.
  if (first.first === "word" && word.opens && WILL.test(after) && !MONTHS.has(word.plain))
    return { name: "does what people do", last };
  // `Arlo (peanut allergy), Suki (dairy)`
  if (first.first === "word" && !word.opens && /^(?:: |, |\), )$/.test(word.gap) && /^ \(\p{L}/u.test(text.slice(end, end + 3)))
    return { name: "in a list", last };
  if (first.first === "word" && !word.opens && word.plain.endsWith("'s") && behind?.gap === " ")
    return { name: "possessive", last };
  if (first.first === "word" && !word.opens && JOINED.test(lead) && near !== undefined && /^\p{Lu}/u.test(text[near.start] ?? ""))
    return { name: "beside another", last };
  if (first.first !== "no" || !word.capitalised || THINGS.has(word.plain)) return undefined;
  // Of nobody in the lexicon: only where nothing but somebody can be meant.
  const spoken =
    /^(?:[,.!?;:)]|\s*$| (?:and|for|at|who|whose|about|if|whether|to|when|again|from|before|today|tomorrow|later|por|para|pour|und|et|y|e|en|que|qui|die)\b)/.test(
      after,
    );
  if (spoken && ((object && PERSONALLY.test(lead)) || ASKED_FOR.test(lead))) return { name: "spoken to", last };
  if (first === OTHER && SOMEBODY.test(after) && !ANYBODY.has(word.plain) && !ROLES.has(word.plain) && !KIN.has(word.plain))
    return { name: "does what people do", last };
  if (behind?.gap === " " && HUMAN.has(behind.plain) && !word.opens) return { name: "does what people do", last };
  if (
    /^ (?:and|und|et|y|e|en) (?:me|i|ich|mich|mir|moi|yo|io|eu|ik|mij)\b/.test(after) &&
    /(?:^|[ ,.])(?:with|mit|avec|con|com|met|between|for) $/.test(lead)
  )
    return { name: "beside oneself", last };
  if (first.last === "yes" && !headline && (role || (acts && !word.opens)) && !PLACE.has(word.plain))
    return { name: "family name", last };
  if (asked && first === OTHER && behind?.gap === " " && ASKED_TO.has(behind.plain) && !PLACE.has(word.plain) && !headline) {
    const rest = words.slice(last + 1, last + 10).filter(({ sentence }) => sentence === word.sentence);
    if (!isDrug(word.plain) && rest.some(({ plain }) => isIllness(plain) || plain === "earn")) return { name: ASKED, last };
  }
  return undefined;
}

/** `Xu Meiling`, `Nguyen Van An`, `Kim Min-jun`: a family name that stands first, and a given name as they are there. */
function isFamilyFirst(words: readonly Word[], from: number, last: number): boolean {
  if (!BEFORE_GIVEN.has(words[from]?.plain ?? "")) return false;
  const given = words.slice(from + 1, last + 1);
  const vietnamese = /^(?:nguyen|tran|pham|hoang|huynh|phan|dang|bui|ngo|duong)$/.test(words[from]?.plain ?? "");
  return given.every(
    ({ plain, capitalised }) => capitalised && (vietnamese || PINYIN_NAME.test(plain) || /^[a-z]{2,6}-[a-z]{2,6}$/.test(plain)),
  );
}

/** In a list of people or before what is said of somebody in brackets: `..., Zsofia Tothova (3 yrs)`. */
function isListed(text: string, word: Word, end: number): boolean {
  return /^[,:] $|^\n[-*•] $/.test(word.gap) && /^(?: \(|[,;.\n]|$)/.test(text.slice(end, end + 2));
}

/** True where capitals are the name of a company that is called like somebody. */
function isCompany(words: readonly Word[], from: number, last: number): boolean {
  for (let length = 2; length <= 3 && from + length - 1 <= last; length++) {
    const name = words.slice(from, from + length).map(({ plain }) => plain);
    if (COMPANIES.has(name.join(" "))) return true;
  }
  return COMPANIES.has(words[from]?.plain.replace("-", " ") ?? "");
}

/** Countries that are given names, beside those of the lexicon. */
const COUNTRIES = setOf("chad jordan georgia kenya india ireland israel italia francia holanda irlanda");
const KINDS_OF_PLACES =
  /\b(?:countr(?:y|ies)|nations?|cit(?:y|ies)|capitals?|states|towns|lander|staaten|stadte|pays|villes|paises|ciudades|paesi|citta|cidades|landen|steden)\b/;
const isPlaceName = (plain: string): boolean => PLACE.has(plain) || COUNTRIES.has(plain);

/** One of a list of places: each of it is called like one, and one is nothing else or the sentence says what they are (`Jordan, Chad and Georgia are countries`). */
export function isListedPlace(text: string, words: readonly Word[], at: number): boolean {
  if (!isPlaceName(words[at]?.plain ?? "")) return false;
  let [from, to] = [at, at];
  const goesOn = (index: number): boolean =>
    /^, (?:and )?$/.test(words[index]?.gap ?? "") &&
    isPlaceName(words[index]?.plain ?? "") &&
    words[index]?.sentence === words[at]?.sentence;
  while (from > 0 && at - from < 8) {
    const joins = /^(?:and|or|und|oder|et|ou|y|e|o|en|of)$/.test(words[from - 1]?.plain ?? "") && words[from]?.gap === " ";
    const before = joins ? from - 2 : from - 1;
    if (!isPlaceName(words[before]?.plain ?? "") || !(joins || goesOn(from))) break;
    from = before;
  }
  while (to - at < 8) {
    const joins = /^(?:and|or|und|oder|et|ou|y|e|o|en|of)$/.test(words[to + 1]?.plain ?? "") && words[to + 1]?.gap === " ";
    const next = joins ? to + 2 : to + 1;
    if (!isPlaceName(words[next]?.plain ?? "") || !(joins || goesOn(next))) break;
    to = next;
  }
  if (from === to) return false;
  const members = words.slice(from, to + 1).map(({ plain }) => plain);
  if (members.some((plain) => PLACE.has(plain) && partOfPlain(plain) === "no")) return true;
  return KINDS_OF_PLACES.test(plainOf(text.slice(Math.max(0, (words[from]?.start ?? 0) - 80), (words[to]?.end ?? 0) + 80)));
}

const partOfPlain = (plain: string): Part["first"] => {
  const first = inEither(plain, FIRST, WORDLIKE_FIRST);
  return first === "no" ? inEither(plain, LAST, WORDLIKE_LAST) : first;
};

/** Months that are names too: `May will be warm`. */
const MONTHS = setOf("may april june august avril mai giugno juin mei juni august");
/** A name joined to another: `Deepika and Rob`. */
const JOINED = /\p{L} (?:and|und|et|y|e|en|&) $/u;
/** A name that alone is mostly a program, a product or a company. */
const isNobodyAlone = (plain: string): boolean => NOBODY_ALONE.has(plain) || BRANDS.has(plain);
/** What stands behind a name in a register: `Mikkelsen, Rune; passport ...`. */
const ENTRY = /^(?:;|\n|$|,? \(?(?:DOB|[Dd]ob|[Bb]orn|[Gg]eb|[Pp]assport)\b)/;
/** What is said to people alone. */
const PERSONALLY =
  /(?:\b(?:thanks|thank you|kudos|congrats|congratulations|shout-?out|props|welcome|happy birthday|love) (?:so much )?(?:again )?to|\bgracias a|\bmerci a|\bdanke an|\bgrazie a|\bobrigad[oa] a[o]?|\bdank aan|\b(?:remind|invite|invited|tell|told|ask|asked|cc|looping in|copying|text|interview|interviewed|hire|hired|congratulate|talk(?:ed|ing)? to|spoke (?:to|with)|speak (?:to|with)|chat(?:ted)? with|married to|engaged to|sit with|1:1 with|frag|sag|erinnere|parle a|demande a|dis a|habla con|hable con|pregunta a|dile a|parla con|chiedi a|fala com|falei com|pergunta a[o]?|vraag aan|zeg tegen|praat met)) $/;

/** The word before a name, over the particles between them: `place de la Bastille`. */
function skipParticles(words: readonly Word[], from: number): Word | undefined {
  let i = from - 1;
  while (i > from - 4 && PARTICLES.has(words[i]?.plain ?? "")) i--;
  return words[i]?.sentence === words[from]?.sentence ? words[i] : undefined;
}

function endsLine(text: string, at: number): boolean {
  return /^[ \t,.]{0,3}(?:\r?\n|$)/.test(text.slice(at, at + 6));
}
