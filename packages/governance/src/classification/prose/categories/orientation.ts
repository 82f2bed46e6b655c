import type { Phrase } from "../phrases.ts";
import { says } from "./says.ts";

/** Sexual orientation and gender, of people and of those they live with. */
export const ORIENTATIONS: readonly Phrase[] = [
  says(
    "SEXUAL_ORIENTATION",
    "orientation",
    `lesbians gays bisexuals nonbinary genderqueer genderfluid transgendered transsexual transman transwoman demisexual aromantic lgbt lgbtq lgbtqia
    schwuler schwulen schwule lesbe lesben lesbische lesbischen homosexuelle homosexueller bisexuelle bisexueller transfrau transmann transident transidente nichtbinar nicht-binar geoutet coming-out
    homosexuelles homosexuels lesbiennes bisexuelles transgenre non-binaire trans-identitaire
    lesbianas homosexuales transexual bisexuales
    omosessuali lesbiche bisessuali transessuale transessuali
    homossexual homossexuais lesbica lesbicas bissexual bissexuais transexuais
    homoseksuele biseksuele lesbienne lesbo transvrouw non-binair
    gejem geja lesbijka lesbijką homoseksualny homoseksualna biseksualna biseksualny transplciowa transplciowy
    homosexuell bog lesbisk bisexuell transperson
    escinsel gey lezbiyen biseksuel`,
    { unless: /\b(?:rights|pride parade|movement|history|regardless|flag|network group|policy)\b/ },
  ),
  says("SEXUAL_ORIENTATION", "orientation", "trans", {
    either: true,
    before:
      /\b(?:is|am|i'm|he's|she's|as|are|being|openly|est|es|soy|sono|sou|e|ist|bin|una persona|femme|homme|mujer|hombre|chica|chico|donna|uomo|mulher|homem|persona|pessoa|personne|kvinna|kadin) $/,
    behind:
      /^ (?:wom[ae]n|m[ae]n|person|people|kid|guy|girl|boy|male|female|colleague|employee|frau|mann|vrouw|man|kvinna|birey|kadin|erkek|patient|student|daughter|son)\b/,
    unless: /\b(?:trans fat|gras trans)\b/,
  }),
  says("SEXUAL_ORIENTATION", "came out", "out came comes coming geoutet outed outete armario armadio kast szafy", {
    before: /\b(?:came|comes|coming|come|sich|du|del|dall|dell'|uit de|do|saiu do|salio del|z) $/,
    either: true,
    behind: /^ out (?:as|to (?:\w+ ){1,3}(?:as|that)|at work|last)\b/,
    with: /\b(?:c[ao]m(?:e|es|ing) out (?:as (?!an? (?:winner|result|draw))|to (?:her|his|my|their|the (?:team|family)|us|me)|at (?:work|school)|last)|sich (?:als |\w+ )?geoutet|geoutet|outed (?:him|her)|outete sich|(?:sali\w+ del|saiu do) armari?o|uit de kast|z szafy)\b/,
    unless:
      /\b(?:report|version|release|update|results?|numbers?|figures?|film|album|book|stain|data) (?:\w+ ){0,2}c[ao]m(?:e|es|ing) out\b/,
  }),
  says("SEXUAL_ORIENTATION", "partner of the same sex", "husband boyfriend", {
    before: /\bhis (?:\w+ )?$/,
    unless: /\b(?:(?:her|she|she's|woman|wife)\b.*\bhis\b|his \w+'s)/,
  }),
  says("SEXUAL_ORIENTATION", "partner of the same sex", "wife girlfriend fiancee", {
    before: /\bher (?:\w+ )?$/,
    unless: /\b(?:(?:his|he|he's|husband|him)\b.*\bher\b|her \w+'s)/,
  }),
  says("SEXUAL_ORIENTATION", "partner of the same sex", "mann ehemann lebensgefahrte", {
    before: /\bsein(?:em|en|es)? (?:neuer |neuen )?$/,
  }),
  says("SEXUAL_ORIENTATION", "partner of the same sex", "ehefrau lebensgefahrtin", {
    before: /\bihr(?:er|e|em) $/,
    with: /\b(?:sie (?:und|mit|hat|ist)|mit ihrer ehefrau)\b/,
    unless: /\bsehr geehrter?\b/,
  }),
  says(
    "SEXUAL_ORIENTATION",
    "partner of the same sex",
    "same-sex same-gender gleichgeschlechtlich gleichgeschlechtliche gleichgeschlechtlicher gleichgeschlechtlichen",
    {
      unless: /\b(?:rights|law|legal in|referendum|policy)\b/,
    },
  ),
  says("SEXUAL_ORIENTATION", "partner of the same sex", "sexe sexo sesso geslacht plci cinsiyet cinsiyetten", {
    before: /\b(?:du meme|del mismo|dello stesso|do mesmo|van hetzelfde|tej samej|ayni|de meme) $/,
  }),
  says(
    "SEXUAL_ORIENTATION",
    "partner of the same sex",
    "mums moms mothers dads fathers mamas papas mutter vater mamans mamme mamas moeders vaders",
    {
      before: /\b(?:two|zwei|deux|dos|due|duas|dois|twee) $/,
      with: /\b(?:has|have|her|his|with|hat|haben|bei|a|elle|il|tiene|ha|tem|heeft) (?:\w+ ){0,3}(?:two|zwei|deux|dos|due|duas|dois|twee) \w+/,
      unless: /\b(?:of two (?:mums|moms|mothers|dads)|and two|two (?:mothers|fathers) (?:met|asked|called))\b/,
    },
  ),
  says("SEXUAL_ORIENTATION", "partner of the same sex", "homme hombre uomo homem femme mujer donna mulher man vrouw", {
    before:
      /\b(?:marie (?:avec|a) un|mariee (?:avec|a) une|pacse avec un|pacsee avec une|casado con un|casada con una|sposato con un|sposata con una|casado com um|casada com uma|getrouwd met een andere) $/,
  }),
  says(
    "SEXUAL_ORIENTATION",
    "partner of the same sex",
    "woman girl lady femme fille mujer chica donna ragazza mulher vrouw frau",
    {
      before:
        /\b(?:she|she's|elle|ella|lei|ela|zij|sie)(?: (?:is|was|est|ist|is|esta|sta|e|has been|hat|seit))? (?:dating|seeing|married to|engaged to|living with|in love with|en couple avec|sort avec|vit avec|sale con|vive con|esta con|sta con|namora com|vive com|samen met|getrouwd met|mit|verheiratet mit|zusammen mit)(?: (?:an?|another|une|una|uma|een|einer|eine))? $/,
    },
  ),
  says("SEXUAL_ORIENTATION", "partner of the same sex", "man guy bloke homme mec hombre chico uomo ragazzo homem mann", {
    before:
      /\b(?:he|he's|il|el|lui|ele|hij|er)(?: (?:is|was|est|ist|is|esta|sta|e|has been|hat|seit))? (?:dating|seeing|married to|engaged to|living with|in love with|en couple avec|sort avec|vit avec|sale con|vive con|esta con|sta con|namora com|vive com|samen met|getrouwd met|mit|verheiratet mit|zusammen mit)(?: (?:an?|another|un|uno|um|een|einem|einen))? $/,
  }),
  says("SEXUAL_ORIENTATION", "gender", "transitioning transitioned", {
    before: /\b(?:is|are|started|began|was|has|have|am|i'm|she's|he's|they're|been) $/,
    with: /\b(?:pronouns|they\/them|she\/her|he\/him|uses? (?:they|she|he)\b|hormones?|name is now|from (?:fe)?male)/,
  }),
  says("SEXUAL_ORIENTATION", "civil union of the same sex", "civile civilmente", { before: /\b(?:unione|unioni|unit[oai]) $/ }),
  says(
    "SEXUAL_ORIENTATION",
    "gender",
    "dysphoria reassignment affirming affirmation transition transitioning deadname transitioned they-them birth",
    {
      before:
        /\b(?:gender|gender-|her|his|my|during (?:her|his)|since (?:her|his)|is|was|had|assigned (?:male|female) at|medically|socially|uses her|uses his|started|start) $/,
      with: /\b(?:gender|deadname|hormon\w*|assigned (?:fe)?male at birth|(?:socially|medically) transition\w*|pronouns|transition(?:ed|ing)? (?:to|from) (?:fe)?male|trans\b)/,
    },
  ),
];
