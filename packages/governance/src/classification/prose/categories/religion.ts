import type { Phrase } from "../phrases.ts";
import { oneOf, says } from "./says.ts";

const KEEPS = oneOf(
  `for|during|observ\\w+|fast\\w+|celebrat\\w+|off|keeps?|keeping|because of|due to|leave|since|throughout|until|after|respect\\w*|wegen|wahrend|im|zum|feiert|fastet|halt|an|pour|pendant|fait|fete|respecte|durante|por|para|celebra|guarda|hace|per|fa|festeggia|faz|voor|tijdens|viert|doet|mee|aan|podczas|obchodzi|under|firar|fastar|icin`,
);
/** Religious beliefs and what is kept by them. */
export const FAITHS: readonly Phrase[] = [
  says(
    "RELIGION",
    "faith",
    `muslima christians pentecostal anglican quaker presbyterian adventist scientologist scientology wiccan zoroastrian baha'i jain parsi agnostic catholics churchgoer churchgoing imam rabbi parish parishioner seminarian hijab niqab burqa kippah yarmulke mezuzah hajj umrah baptism baptised baptized christened unbaptised bar-mitzvah bat-mitzvah islam judaism lapsed born-again
    muslim muslimin muslimisch judin jude buddhistin hinduistisch alevit alevitin alevitisch freikirchlich neuapostolisch glaubig strengglaubig religios atheist atheistin getauft taufe kirchenaustritt konfession kopftuch konvertiert gebetsraum freitagsgebet koscher halal kommunion firmung kirchgeld pfarrgemeinde kirchenmitglied kirchenchor
    athee baptise baptisee bapteme communion pratiquante croyant croyante casher kasher cacher halal kippa protestant protestante orthodoxe evangelique israelite priere priere careme musulmans
    bautizado bautizada bautizo creyente ateo atea agnostico agnostica kosher cuaresma mezquita sinagoga budista hinduista mormon mormona cofradia
    battezzato battezzata battesimo credente praticante cresima quaresima moschea sinagoga valdese parrocchia parrocchiale musulmane induista
    batizado batizada batismo crente ateu ateia quaresma mesquita sinagoga budista umbanda candomble espirita testemunha
    gedoopt gelovig belijdend koosjer hoofddoek moskee synagoge moslima moslim atheist hervormd protestants bekeerd boeddhist hindoe kerkganger
    katolik katoliczka katoliczką muzulmanin muzulmanka zydowka prawoslawny prawoslawna ochrzczony ochrzczona ateista ateistka wierzacy wierzaca swiadek
    kristen judisk katolik dopt konfirmerad kyrkoavgift moske troende frikyrklig ateist
    musluman alevi sunni hristiyan yahudi ramazan oruc namaz basortusu ateist ramadan`,
    {
      unless:
        /\b(?:muslim (?:ban|world|countries)|confession of|church of england school|architecture|museum|recipes?|restaurants?|opening hours|(?:orthodox|liberal|religious) (?:economist|view|approach)|festivals?|karneval|ataxi\w+|halal (?:snack|market|restaurant)|taufe des schiffs|arzt|medicina|medico praticante)\b/,
    },
  ),
  says(
    "RELIGION",
    "festival",
    "ramadan ramadhan eid diwali passover pesach hanukkah chanukah lent vaisakhi holi navaratri kippur hashanah sukkot purim ashura shabbos advent fastenmonat zuckerfest opferfest pessach chanukka aid fitr careme ramadam suikerfeest offerfeest bayram muharrem",
    {
      before: new RegExp(`\\b${KEEPS}(?: (?:the|der|den|dem|les?|la|el|il|o|de|het|yom|rosh|eid|her|his|l|my)){0,2} $`),
      unless: /\b(?:office|shop|store|sale|hours|we (?:are|will be) closed|promo\w*|discount)\b/,
    },
  ),
  says("RELIGION", "food", "halal kosher casher kasher koscher koosjer", {
    either: true,
    before:
      /\b(?:needs?|requires?|eats?|wants?|orders?|requested|only|asked for|is|strictly|strict|keeps?|isst|braucht|mange|come|mangia|eet|besoin de|necesita) (?:\w+ )?$/,
    behind: /^ (?:meals?|food|options?|only|diet|lunch|catering|essen|speisen|repas|comida|pasto|maaltijd)\b/,
    unless: /\b(?:restaurant|butcher|recipe|certified products|salt)\b/,
  }),
  says(
    "RELIGION",
    "observance",
    "church mass prayers prayer temple mosque synagogue bible quran koran worship congregation priest communion confession pilgrimage sermon sunday",
    {
      before:
        /\b(?:goes to|go to|going to|attends?|went to|at|from|at the|to|left the|joined the|joined an?|in the|friday|daily|evening|morning|her|his|for|holy|first|to the|in|after|reads the) (?:\w+ )?$/,
      with: /\b(?:(?:goes|go|going|went|attends?|walk\w*) (?:\w+ )?(?:to )?(?:the |a |her |his )?(?:church|mass|temple|mosque|synagogue|bible \w+|confession)|(?:left|joined) (?:the|a|her|his) (?:\w+ )?(?:church|congregation)|(?:her|his|my) (?:church|mosque|temple|synagogue|parish|congregation|prayers|rabbi|imam|priest|pilgrimage)|(?:friday|daily|evening|morning|sunday) (?:prayers?|mass|worship)|prayer (?:room|break|times?)|(?:first|holy) communion|bible (?:study|group)|(?:for|at) prayers?)\b/,
      unless: /\b(?:funeral|wedding|concert|critical|visit\w*|tour|architecture|body mass)\b/,
    },
  ),
  says(
    "RELIGION",
    "observance",
    "prays praying fasts betet fastet beten prie jeune reza ora prega digiuna jejua bidt vast modli pości poscic ber fastar",
    {
      with: /\b(?:prays|praying|fasts (?:during|for|on)|betet|fastet|(?:il|elle|je) (?:prie|jeune)|reza|prega|digiuna|jejua|bidt|modli sie|fastar)\b/,
      unless: /\b(?:je vous prie|vous prie|je t'en prie|si prega|prega di|mal fast|hold fast)\b/,
    },
  ),
  says(
    "RELIGION",
    "observance",
    "kirche gottesdienst messe eglise misa messa missa igreja iglesia chiesa kerk kosciola kyrkan camiye cami mszy mszę kirchensteuer kirchengemeinde",
    {
      before:
        /\b(?:aus der|in die|geht in die|zum|zur|jeden|va a la|va a l'|va a l|a la|va a|a|in|alla|a la|na|vai a|da|de la|naar de|van de|uit de|lid van de|do|na|i|gar i|svenska|ur) (?:\w+ )?$/,
      with: /\b(?:ausgetreten|austritt|geht|gehe|jeden sonntag|va|vado|voy|vais|vai|vou|messe|misa|messa|missa|gaat|ga|lid|uitgeschreven|chodzi|gar|svenska kyrkan|medlem|gidiyor|dimanche|domingo|domenica|zondag|gottesdienst|kirchen\w+)\b/,
      unless: /\b(?:messe (?:in|hannover|frankfurt)|konzert|concerto|concierto|architektur|hochzeit|besichtig\w+|visita)\b/,
    },
  ),
  says(
    "RELIGION",
    "conversion",
    "islam judaism christianity buddhism catholicism hinduism sikhism judentum christentum buddhismus katholizismus islamismo judaisme catholicisme christianisme bouddhisme catolicismo judaismo cristianismo budismo cattolicesimo ebraismo buddismo jodendom christendom boeddhisme islamu",
    {
      before:
        /\b(?:converted?|converting|convert|konvertierte?|ubergetreten|converti[et]?|convertie|se convirtio|convertid[oa]|convertit[oa]|converteu(?:-se)?|bekeerd|bekeerde|practi[sc]es|left|follows)(?: \w+)?(?: (?:to|zum|a|au|al|all|ao|tot|na))?(?: (?:the|l|het))? $/,
    },
  ),
  says("RELIGION", "faith", "witness witnesses jehovas jehova jehovah geova jehowy temoin latter-day mitzvah saints", {
    either: true,
    before:
      /\b(?:jehovah'?s|zeugen|zeuge|zeugin|temoins? de|testig[oa]s? de|testimon[ei] di|swiadek|swiadkiem|latter day|bar|bat) $/,
    behind: /^ (?:getuigen?|zeugen?|de jehovah|saint)\b/,
  }),
  says("RELIGION", "veil", "headscarf turban veil voile velo veu foulard", {
    before:
      /\b(?:wears? (?:an?|the|her|his)|wearing (?:an?|the|her)|her|his|porte (?:le|un)|lleva(?: el)?|porta(?: il)?|usa(?: o)?|religious) $/,
    unless: /\b(?:bride|wedding|mariee?|novia|sposa|noiva|stroke|yacht|moto)\b/,
  }),
];
