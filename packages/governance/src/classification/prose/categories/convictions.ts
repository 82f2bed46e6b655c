import type { Phrase } from "../phrases.ts";
import { oneOf, says } from "./says.ts";

const CRIME = oneOf(
  `fraud|theft|assault|battery|burglary|robbery|murder|manslaughter|rape|arson|stalking|embezzlement|possession|shoplifting|forgery|perjury|bribery|harassment|trespass\\w*|vandalism|extortion|kidnapping|speeding|drink-driving|drunk-driving|smuggling|trafficking|laundering|violence|abuse|offen[cs]es?|crimes?|felony|misdemeanou?r
  |betrugs?|diebstahls?|korperverletzung|raubs?|einbruchs?|drogen\\w*|steuerhinterziehung|notigung|beleidigung|unterschlagung|trunkenheit|fahrens|urkundenfalschung|brandstiftung|totschlags?|untreue|fahrerflucht|unfallflucht|hehlerei|stalkings?
  |vols?|escroquerie|violences?|fraude|meurtre|viol|conduite|trafic|stupefiants|abus|detournement|recel|coups|agression|harcelement|outrage
  |robo|hurto|estafa|fraude|lesiones|agresion|homicidio|trafico|drogas|alcoholemia|malversacion|acoso|violencia
  |furto|truffa|rapina|lesioni|omicidio|spaccio|frode|ricettazione|guida|stalking|aggressione|evasione|appropriazione|violenza|percosse
  |roubo|burla|homicidio|trafico|agressao|estelionato|desvio|violencia|conducao
  |diefstal|fraude|mishandeling|inbraak|oplichting|moord|doodslag|heling|bedreiging|rijden|drugs\\w*
  |kradziez|oszustwo|pobicie|rozboj|jazde|zabojstwo|narkotyki
  |stold|misshandel|bedrageri|ran|rattfylleri|mord|narkotikabrott|snatteri
  |hirsizlik|dolandiricilik|yaralama|cinayet|uyusturucu`,
);
/** What was done, behind a word for what followed. */
const FOR_CRIME = new RegExp(
  `^(?: (?:of|for|in|with|to|wegen|fur|pour|a|de|por|per|di|voor|za|for|om)(?: (?:an?|the|her|his|des|einer?|un|une|la|le|el|een|en|die|het))?(?: \\w{1,20}){0,2}? ${CRIME}\\b|)`,
);
const OF_CRIME = new RegExp(
  `^ (?:of|for|with|wegen|pour|de|por|per|di|voor|za|om|av|a|i)(?: (?:an?|the|der|des|einer?|un|une|la|le|el|una|een|en|drunk|petty|grand|attempted|aggravated|domestic|sexual|drug|tax|wire|schwerer|gefahrlicher|fahrlassiger|versuchten)){0,2}(?: \\w{1,20})?? ${CRIME}\\b`,
);
/** Criminal convictions and offences (GDPR, Article 10). */
export const CRIMES: readonly Phrase[] = [
  says(
    "CRIMINAL_RECORD",
    "conviction",
    `convicted conviction convictions sentenced jailed imprisoned incarcerated felon felony misdemeanor misdemeanour ex-convict ex-con ex-offender offender parole paroled dui dwi drink-driving drunk-driving indicted acquitted
    vorbestraft vorbestrafter vorbestrafte verurteilt verurteilung vorstrafe vorstrafen bewahrungsstrafe bewahrungshelfer bewahrungshelferin haftstrafe freiheitsstrafe gefangnisstrafe gefangnis inhaftiert verhaftet strafregister strafbefehl haftentlassen haftentlassener haftentlassung jva fuhrungszeugnis vorbelastet
    condamne condamnee condamnation condamnations incarcere incarceree ecroue ecrouee detenu detenue recidiviste
    condenado condenada condena condenas encarcelado encarcelada expresidiario expresidiaria imputado imputada
    condannato condannata condanna condanne pregiudicato pregiudicata detenuto detenuta incarcerato incarcerata arrestato arrestata
    condenado condenada condenacao encarcerado encarcerada ex-presidiario ex-presidiaria arguido arguida
    veroordeeld veroordeling strafblad gevangenisstraf celstraf taakstraf gedetineerd gearresteerd ex-gedetineerde
    skazany skazana skazanie karany karana karalnosci wyrok wiezieniu wiezienia wiezienie aresztowany aresztowana
    domd straffad fangelse fangelsestraff belastningsregistret belastningsregister haktad straffregister
    sabika sabikali sabikasi hapis mahkum hukumlu tutuklandi cezaevi cezaevinde cezaevinden`,
    {
      behind: FOR_CRIME,
      unless:
        /\b(?:sentenced as|no data of|conviction rate|conviction that|prison reform|sex offender register api|ohne vorstrafen zu|strong conviction|wyrok tsue)\b/,
    },
  ),
  says(
    "CRIMINAL_RECORD",
    "arrest",
    "arrested charged prosecuted cautioned fined detained accused guilty detenido detenida detido detida angeklagt angezeigt denunciato denunciata imputato imputata aangehouden oskarzony oskarzona atalad",
    {
      behind: OF_CRIME,
    },
  ),
  says("CRIMINAL_RECORD", "arrest", "arrested detained", {
    before: /\b(?:was|were|been|got|being|is|he|she|i) $/,
    behind: /^(?! by the (?:beauty|sight|view|sound))/,
    unless: /\b(?:development|cardiac)\b/,
  }),
  says("CRIMINAL_RECORD", "arrest", "caution cautions bail custody warrant", {
    before: /\b(?:police|accepted an?|received an?|given an?|formal|conditional|on|out on|in|in police|arrest|bench|simple) $/,
    with: /\b(?:police|court|offen[cs]e|theft|possession|assault|arrest|caution for|on bail|bench|charge[ds]?)\b/,
    unless: /\b(?:custody of|joint custody|child custody|chain of custody)\b/,
  }),
  says(
    "CRIMINAL_RECORD",
    "conviction",
    "caution cautions verfahren ermittlungsverfahren strafverfahren strafanzeige anzeige cadastro",
    {
      behind: OF_CRIME,
    },
  ),
  // What a check of somebody's past found.
  says(
    "CRIMINAL_RECORD",
    "criminal record",
    "assault burglary robbery theft fraud arson shoplifting manslaughter possession dui dwi abh gbh offence offences offense offenses caution",
    {
      with: /\b(?:dbs|vetting|background (?:check|screening)|criminal check|crb|disclosure|police check)\b/,
    },
  ),
  says("CRIMINAL_RECORD", "prison", "knast slammer clink taule trullo galera xadrez bajes bak pudle", {
    before: /\b(?:im|in den|in|in the|en|al|in|na|no|de|w) $/,
  }),
  says("CRIMINAL_RECORD", "criminal record", "record records history offence offences offense offenses past background", {
    before: /\b(?:criminal|police|arrest|juvenile|sexual|sex|previous|prior|driving|drug|violent|public order) $/,
    unless: /\b(?:police records? (?:show|office)|criminal history of)\b/,
  }),
  says("CRIMINAL_RECORD", "prison", "prison jail penitentiary borstal remand", {
    before: /\b(?:in|from|to|out of|years of|months of|months in|years in|time in|of|released from|went to|sent to|on) $/,
    unless: /\b(?:works? (?:in|at|for)|prison (?:officer|guard|reform|break|museum|architecture)|film|novel|series)\b/,
  }),
  says("CRIMINAL_RECORD", "probation", "probation", {
    either: true,
    before:
      /\b(?:sentenced to|years?|months? of|years? of|criminal|court-ordered|supervised|breached (?:his|her)|violated (?:his|her)) $/,
    behind: /^ (?:officer|order|for (?:\w+ ){0,2}(?:theft|assault|fraud|dui|dwi|possession|burglary|battery))\b/,
    unless: /\b(?:probation(?:ary)? period|passed|manager|employment|new (?:hire|job|role))\b/,
  }),
  says("CRIMINAL_RECORD", "punishment", "order tag monitor service time", {
    before: /\b(?:restraining|non-molestation|electronic|ankle|community|served|serving|did|jail) $/,
    with: /\b(?:restraining order|non-molestation|electronic tag|ankle (?:tag|monitor)|hours of community service|community service (?:order|for)|(?:served|serving|did) (?:\w+ )?time)\b/,
  }),
  says("CRIMINAL_RECORD", "punishment", "bewahrung haft untersuchungshaft freigang", {
    before: /\b(?:auf|in|aus der|aus|monate|jahre|monaten|jahren|zur|unter) $/,
    unless: /\bprobezeit\b/,
  }),
  says("CRIMINAL_RECORD", "criminal record", "judiciaire", { before: /\bcasier $/ }),
  says("CRIMINAL_RECORD", "prison", "prison sursis vue probatoire electronique examen", {
    before: /\b(?:en|de|mois de|ans de|sort de|avec|garde a|sortie? de|bracelet|sursis|mis en|mise en) $/,
    with: /\b(?:(?:en|ans de|mois de|sort de|sortie? de|fait de la) prison|avec sursis|garde a vue|sursis probatoire|bracelet electronique|mise? en examen)\b/,
  }),
  says("CRIMINAL_RECORD", "criminal record", "penales policiales penali criminais criminal penale giudiziari judiciales", {
    before: /\b(?:antecedentes|precedenti|fedina|registo|ficha|carichi|cadastro|registro de antecedentes) $/,
  }),
  says("CRIMINAL_RECORD", "criminal record", "antecedentes", {
    behind: /^(?: (?:penales|policiales|criminais|por (?:\w+ ){0,2}\w+)|)/,
    unless:
      /\b(?:familiares?|medicos?|clinicos?|patologic\w+|alerg\w+|personales|pessoais|cardiac\w+|cirurgic\w+|quirurgic\w+|de (?:saude|salud)|historic\w*)\b/,
  }),
  says(
    "CRIMINAL_RECORD",
    "prison",
    "carcel prision preso presa condicional carcere prigione domiciliari cadeia prisao suspensa vigilata gevangenis cel",
    {
      before:
        /\b(?:en la|en|de la|de|a|libertad|estuvo|in|dal|ai|arresti|di|na|da|pena|liberdade|esta|foi|esteve|anos de|meses de|uit de|in de|libertad condicional|liberta|la) $/,
      unless: /\b(?:transito|atasco)\b/,
    },
  ),
  says("CRIMINAL_RECORD", "conviction", "dom giydi zawieszeniu kartotece", {
    before: /\b(?:villkorlig|hukum|w|skyddstillsyn) $/,
  }),
];
