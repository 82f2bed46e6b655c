import type { Phrase } from "../phrases.ts";
import { oneOf, says } from "./says.ts";

/** What somebody is to a union or a party. */
const BELONGS = oneOf(
  `members?|membership|joined|joins|elected|rep|reps|representative|delegate|steward|convenor|dues|subs|subscription|card|belongs|organi[sz]er|branch|secretary|treasurer|activist|official|caseworker|backed|represented
  |mitglied|mitgliedschaft|mitgliedsbeitrag|eingetreten|beigetreten|vertrauensfrau|vertrauensmann|vertrauensleute|organisiert|beitrag|gewerkschaftssekretarin|gewerkschaftssekretar|delegierte[rn]?
  |membre|adherente?s?|adhere|encartee?|deleguee?|elue?|syndiquee?|cotise|carte|militante?|representante?
  |afiliad[oa]|miembro|delegad[oa]|enlace|cuota|carne|liberad[oa]|afilio|milita
  |iscritt[oa]|tesserat[oa]|tessera|delegat[oa]|aderisce|aderente|rsu|rappresentante
  |filiad[oa]|sindicalizad[oa]|socio|quotas?|sindicalista|dirigente
  |lid|lidmaatschap|kaderlid|contributie|aangesloten|vakbondsman
  |czlonek|czlonkini|czlonkiem|nalezy|zapisal|zapisala|skladki
  |medlem|med i|gick med|ansluten|medlemskap|ombud|medlemsavgift
  |uye|uyesi|temsilcisi|aidat`,
);
const IS_MEMBER = new RegExp(`\\b${BELONGS}\\b`);
const TO_UNION = new RegExp(
  `\\b${BELONGS} (?:(?:\\w+ )?(?:for|of|in|with|at|by|from|to|bei|der|die|des|beim|von|in der|du|de|a|au|de la|a la|al|alla|della|di|do|da|no|na|ao|van|bij|i|do|w)(?: the| der| la| de)? |the )?$`,
);
/** Membership of trade unions: the affiliates of the International Trade Union Confederation by its list, and their largest unions. */
export const UNIONS: readonly Phrase[] = [
  says(
    "UNION_MEMBERSHIP",
    "union by its name",
    `unison gmb usdaw aslef nasuwt ucu tssa siptu forsa afl-cio seiu afscme uaw ibew ufcw teamsters liuna unifor cupe psac acfo actu cfmeu amwu cosatu numsa fawu citu aituc intuc
    igbce dgb ogb gog vpod evg komba marburger cftc cfe-cgc unsa fiom filt filcams fsu-snuipp ccoo ugt snes-fsu sud-rail usoc csif cgil cisl fiom-cgil uilm usb-it cgtp fenprof fectrans abvv acv fgtb aclvb csc-acv
    opzz unionen akademikerforbundet larvernes fagforbundet turk-is hak-is memur-sen kesk kctu rengo fgb fesmc`,
    { with: IS_MEMBER },
  ),
  says("UNION_MEMBERSHIP", "union by its name", "metall bce bau", { before: /\b(?:ig|if) $/, capital: true, with: IS_MEMBER }),
  // `ver.di` reads like an address of the net.
  says(
    "UNION_MEMBERSHIP",
    "union by its name",
    "mitglied mitgliedschaft vertrauensfrau vertrauensmann organisiert beitrag delegierte delegierter",
    {
      behind: /^ (?:\w+ ){0,3}?ver$/,
    },
  ),
  says("UNION_MEMBERSHIP", "union by its name", "ver", {
    before: /\b(?:ist|bin|war|bist) (?:\w+ )?(?:bei|in der|mitglied bei) $/,
  }),
  says("UNION_MEMBERSHIP", "union by its name", "ouvriere", { before: /\bforce $/, with: IS_MEMBER }),
  says("UNION_MEMBERSHIP", "union by its name", "obreras", { before: /\bcomisiones $/, with: IS_MEMBER }),
  says("UNION_MEMBERSHIP", "union by its name", "sindical", { before: /\bforca $/, with: IS_MEMBER }),
  says("UNION_MEMBERSHIP", "union by its name", "solidarnosc solidarnosci", { capital: true, with: IS_MEMBER }),
  // Names that are words, or short for much else: right behind what somebody is to them.
  says(
    "UNION_MEMBERSHIP",
    "union by its name",
    "unite equity prospect community fbu rmt neu nea aft cwa usw cut cta gew ngg gdl uil fnv cnv tco saco kommunal vision disk lo sud fsu fo",
    {
      before: TO_UNION,
      capital: true,
    },
  ),
  says(
    "UNION_MEMBERSHIP",
    "union by its name",
    "unite unison gmb neu usdaw aslef nasuwt ucu pcs community prospect rmt teamsters uaw",
    {
      behind:
        /^ (?:subs|dues|card|subscription|ballot paper|rep|reps|member|official|organi[sz]er|steward|convenor|branch|delegate)\b/,
      capital: true,
    },
  ),
  says(
    "UNION_MEMBERSHIP",
    "works council or strike",
    "council steward vote ballot strike strikes striking picket picketing picketed walkout",
    {
      before:
        /\b(?:(?:on|to|of|in|joined|for) (?:the|our) works|shop|on|the|to|for|a|on the|strike|joined the|joining the|went on|goes on|during the|organi[sz]ed (?:a|the)|led (?:a|the)|in the|in favou?r of|in favou?r of the|her|his) $/,
      with: /\b(?:(?:on|to|of|in|joined|for) (?:the|our) works council|shop steward|strike (?:vote|ballot)|(?:voted?|voting|ballot|in favou?r) (?:\w+ ){0,3}strike|(?:went|goes|was|been|is|going|are) (?:out )?on strike|(?:joined|joining|led|organi[sz]ed|on) (?:the |a )?(?:strike|picket|walkout))\b/,
      unless:
        /\b(?:strike (?:price|one|two|three)|strike rate|air ?strike|lightning|third strike|strike (?:a|the) (?:deal|balance|bargain))\b/,
    },
  ),
  says(
    "UNION_MEMBERSHIP",
    "works council or strike",
    `betriebsratin betriebsratsvorsitzende betriebsratsvorsitzender betriebsratsmitglied gestreikt streikt warnstreik streikposten gewerkschaftlich
    greviste huelguista scioperante grevista vakbondslid kaderlid vakbondsvertegenwoordiger zwiazkowiec zwiazkowca fackligt facklig fackombud sendikali sendika sendikaya sendikasi sendikanin
    syndicaliste delegue_syndical sindicalista sindacalista`,
  ),
  says("UNION_MEMBERSHIP", "works council or strike", "betriebsrat betriebsrats personalrat personalrats", {
    before: /\b(?:im|in den|mitglied im|mitglied des|als|fur den|vorsitzende des|vorsitzender des) $/,
    unless: /\b(?:im betriebsrat (?:besprochen|diskutiert|beraten))\b/,
  }),
  says(
    "UNION_MEMBERSHIP",
    "works council or strike",
    "greve grever huelga sciopero scioperato staking staakt strajku strajkowal strajkowala strejk strejkade grev greve",
    {
      before:
        /\b(?:en|fait|faire|la|a la|de|in|a|ha|allo|lo|uno|em|fez|aderiu a|fazer|aderiu|aan de|de|meegedaan aan de|w|i|ut i|grevde|participe a la|participo en la|hizo) $/,
    },
  ),
  says(
    "UNION_MEMBERSHIP",
    "union by its kind",
    "zwiazku zwiazkow facket fackforbundet fackforbund sendikaya sendikasina vakbond",
    { with: IS_MEMBER },
  ),
  says("UNION_MEMBERSHIP", "union by its kind", "zawodowego zawodowych", { before: /\bzwiazk(?:u|ow|ach) $/ }),
  says("UNION_MEMBERSHIP", "union by its kind", "syndical syndicale sindical sindacale", {
    before: /\b(?:deleguee?|representante?|enlace|delegad[oa]|delegat[oa]|rappresentante|dirigente) $/,
  }),
];
