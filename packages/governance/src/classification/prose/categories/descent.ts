import type { Phrase } from "../phrases.ts";
import { says } from "./says.ts";

const SOMEBODY =
  "wom[ae]n|m[ae]n|guy|girl|boy|male|female|person|people|kid|child|children|family|employee|candidate|colleague|student|applicant|patient|tenant|neighbou?r|parents?|mother|father|mum|mom|dad|teacher|nurse|driver|manager|couple|lady|gentleman|background|community|origin|heritage|descent|roots|ancestry|accent|minority";
const PEOPLES =
  "roma romani gypsy sinti traveller black white asian caucasian latino latina latinx hispanic african-american african afro-caribbean aboriginal maori inuit indigenous metis kurdish kurd tamil uyghur arab berber amazigh pashtun hazara tutsi hutu yoruba igbo hausa zulu xhosa punjabi bengali sinhalese rohingya tatar chechen sami pacific mestizo mixed-race biracial jewish ashkenazi sephardi armenian cherokee navajo native";
/** Racial or ethnic origin. */
export const DESCENTS: readonly Phrase[] = [
  says("ETHNICITY", "people", PEOPLES, {
    behind: new RegExp(`^(?: (?:american|irish|asian|islander|british|african|caribbean))? (?:${SOMEBODY})\\b`),
    unless: /\b(?:black (?:male|female) (?:pen|connector)|white (?:male|female) connector|white paper|black box)\b/,
  }),
  says("ETHNICITY", "people", PEOPLES, {
    before:
      /\b(?:identif(?:y|ies|ied) as(?: an?)?|(?:he|she) (?:is|was)(?: an?| half| part| ethnically)?|(?:he's|she's|i'm|i am)(?: an?| half| part)?|ethnically|half|part|(?:parents|family|mother|father|grandparents) (?:is|are|was|were)|the only|ethnicity|race|of) $/,
    unless: /\b(?:belt|list|market|friday|magic|wine|hat|(?:she|he)(?:'s| is| was) (?:in|wearing|dressed))\b/,
    capital: true,
  }),
  says(
    "ETHNICITY",
    "people",
    "aboriginal biracial mixed-race african-american afro-caribbean afro-latina afro-latino half-japanese half-chinese half-indian half-german half-black half-white half-korean half-french bame",
  ),
  says("ETHNICITY", "people", "traveller travellers nations american race", {
    before: /\b(?:irish|first|native|african|asian|mixed|korean|chinese|mexican) $/,
    with: /\b(?:irish travellers?|first nations|(?:native|african|asian)[- ]american|mixed race)\b/,
    unless: /\b(?:american (?:airlines|express|football|history)|studies)\b/,
  }),
  says(
    "ETHNICITY",
    "skin",
    "skinned colour color skin hautig dunkelhautig dunkelhautige dunkelhautiger dunkelhautigen morkhyad morkhyade donkergetint",
    {
      before:
        /\b(?:dark|light|black|brown|person of|people of|man of|woman of|employee of|candidate of|only person of|darker|his|her) $/,
      with: /\b(?:(?:dark|light|brown|black|darker)[- ]skin(?:ned)?|(?:person|people|wom[ae]n|m[ae]n|employee|candidate) of colou?r|(?:colou?r of (?:his|her) skin)|(?:his|her) skin colou?r|dunkelhautig\w*|morkhyad\w*)\b/,
    },
  ),
  says(
    "ETHNICITY",
    "people",
    "dunkelhautig dunkelhautige dunkelhautiger migrationshintergrund zuwanderungsgeschichte turkischstammig turkischstammige turkischstammiger russischstammig russischstammige polnischstammig polnischstammige arabischstammig arabischstammige kurdischstammig afrodeutsch afrodeutsche afrodeutscher kurde kurdin sinti sintiza romni halbjapaner halbjapanerin morkhyad migratieachtergrond afrodescendente afrodescendiente maghrebin maghrebine metisse kabyle gitan gitane gitano gitana mestizo mestiza mapuche quechua magrebi nordafricano nordafricana cigano cigana quilombola parda mulata mulato zigeuner kurdka morkhyad kokenli",
    {},
  ),
  says(
    "ETHNICITY",
    "people",
    "schwarze schwarzer roma rom kurdische kurdischer noire noir arabe asiatique negra negro indigena nera nero zwarte koerdische koerd kurt cerkes ermeni romska romsk kurdisk samisk arabische",
    {
      either: true,
      before:
        /\b(?:femme|homme|fille|garcon|salariee?|candidate?|mujer|hombre|chica|chico|donna|uomo|ragazza|ragazzo|mulher|homem|menina|rapaz|eine|ein|als|einzige|einziger|de etnia|di etnia|etnia|de raza|de raca|comunidad|comunidade|familia|origine|origem|pueblo) $/,
      behind:
        /^ (?:frau|mann|kollegin|kollege|mitarbeiterin|mitarbeiter|familie|bewerberin|bewerber|vrouw|man|collega|medewerker|jongen|meisje|kvinna|bakgrund|kadin|adam|kokenli|femme|homme|mutter|vater|deutsche[rn]?|herkunft)\b/,
      unless:
        /\b(?:gatto|cane|vestit\w+|robe|abito|vestido|pantalon\w*|zwarte (?:markt|lijst|piet)|auto|jacke|hose|katze|hund|citta di roma)\b/,
    },
  ),
  says("ETHNICITY", "people", "travellers romani roma sinti gypsies", {
    before:
      /\b(?:(?:family|parents|relatives|grandparents|people|familie|eltern|famille|parents|familia|famiglia) (?:is|are|were|sind|sont|son|sono|sao)|family of|(?:he|she|they) (?:is|are)(?: from a)?) $/,
    capital: true,
  }),
  says("ETHNICITY", "people", "colore colour cor couleur kleur", {
    before: /\b(?:(?:donna|uomo|ragazz[oa]|persona|femme|homme|personne|mulher|homem|mujer|hombre|vrouw|man)) (?:di|de|van) $/,
  }),
  says("ETHNICITY", "people", "etnia raza raca etnica ethnie", { before: /\b(?:de|di|da|d'une|d') $/, behind: /^ \w+/ }),
  says("ETHNICITY", "people", "pochodzenia ursprung pabra harkomst kokenli asilli narodowosci", {
    before: /\w+ $|^$/,
    either: true,
    behind: /^ \w{4,}/,
    unless: /\b(?:produkt\w*|danych|energi\w*)\b/,
  }),
];
