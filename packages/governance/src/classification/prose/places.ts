import { PLACES } from "./names.ts";
import { isFamilyName, isGivenName, isListedPlace, type ProseSpan } from "./persons.ts";
import { TOWNS } from "./towns.ts";
import { plainOf, type Word } from "./words.ts";

const setOf = (text: string, separator = " "): ReadonlySet<string> =>
  new Set(text.trim().split(separator === " " ? /\s+/ : separator));
const LARGE = setOf(PLACES, "|");
const TOWN = setOf(TOWNS, "|");
/** Continents, which are words to the lexicon. */
const CONTINENTS = setOf(
  "europe europa afrique africa afrika asie asia asien azie america amerique amerika oceania oceanie ozeanien antarctica antarktis",
);
/** Airports that are not called like their city, as CLDR has none: by the names that travellers say (IATA: LHR, LGW, STN, LTN, AMS, CDG, ORY, MAD, FCO, MXP, LIN, ZRH, ARN, CPH, OSL, LIS, GRU, GIG, JFK, LGA, EWR, ORD, IAH, LAX, IST, SAW, NRT, HND, KIX, SIN, ICN, PEK, BRU). */
const AIRPORTS = setOf(
  "heathrow gatwick stansted luton schiphol roissy orly barajas fiumicino ciampino malpensa linate kloten arlanda kastrup gardermoen portela guarulhos congonhas galeao laguardia o'hare changi narita haneda kansai incheon zaventem charleroi okecie tegel sabiha",
);
/** Where somebody lives, is born or buys: what has a capital behind it is a place, known or not. */
const LIVES_IN =
  /\b(?:(?:lives?|living|lived|born|raised|based|resid(?:es?|ing)|settled|grew up|moved|bought) (?:in|to)|(?:wohnt|wohnhaft|wohne|lebt|lebe|geboren|aufgewachsen|gekauft) in|(?:habite|vit|vis|nee?|reside|installee?) a|(?:vive|vivo|nacid[oa]|naci|nacio|reside|residente|comprad[oa]) en|(?:vive|vivo|abita|abito|nat[oa]|residente|comprat[oa]) a|(?:mora|moro|nascid[oa]|nasci|nasceu|reside|residente|comprad[oa]) em|(?:woont|woon|geboren|woonachtig|gekocht) in|(?:mieszka|mieszkam|urodzon[ya]) w|(?:bor|fodd) i) $/;
const STARTS = new Set([...LARGE, ...TOWN].map((place) => place.split(" ", 1)[0] ?? ""));
/** Cities that are words as well, in one language or another: only behind the prepositions below, and in addresses. */
const WORDLIKE = setOf(
  "reading bath cork derby nice tours nancy angers lens pau porto bari como pisa split essen halle mobile natal leon orange phoenix columbus lincoln aurora salem deal rugby sale battle ely wells rota elche cali lima brest caen metz sion bern zug",
);
const IN_PLACES = setOf(
  `in from near at to of via around outside aus nach bei um a depuis en desde hacia da verso vicino em para de uit naar te bei through leaving visit visiting visited
  between towards toward across beyond per till fran i pa w z do pres vers chez proche cerca hasta tra fra perto ate vanuit omgeving`,
);
const IN_WORDLIKE = setOf("in near from to a di da en em do aus nach de uit naar");
/** Behind a place, without a preposition before it: `the Leeds site`. */
const OF_COMPANY = setOf(
  "office offices site sites branch branches plant warehouse depot campus team store airport station hq headquarters factory region clinic university buro standort werk filiale niederlassung hub lab studio showroom depots kantoren bureau agence usine oficina sucursal planta ufficio sede stabilimento escritorio fabrica kantoor vestiging kontor biuro ofisi",
);
const STATIONS = /^(?:station|airport|hbf|hauptbahnhof|bahnhof|flughafen|underground|tube|terminal|junction|parkway)$/;
const STATIONS_BEFORE =
  /^(?:bahnhof|hauptbahnhof|flughafen|gare|aeroport|estacion|aeropuerto|stazione|aeroporto|estacao|luchthaven|lotnisko|dworzec|station|stasjon|district|quartier|barrio|quartiere|bairro|wijk|stadtteil|ortsteil|dzielnica|gemeinde)$/;
/** What goes between places. */
const TRAVELS =
  /\b(?:trains?|flights?|fly|flying|flew|bus(?:es)?|coach(?:es)?|ferr(?:y|ies)|trams?|zug|zuge|flug|fliegt|train|vol|avion|tren|vuelo|treno|volo|comboio|voo|trein|vlucht|pociag|lot|tag|flyg)\b[^.!?\n]{0,40}$/;

/** Cities and countries of the lexicon behind a word of place or in an address, and stations, airports and quarters by what they are called beside. */
export function placesIn(text: string, words: readonly Word[]): ProseSpan[] {
  const found: ProseSpan[] = [];
  const add = (rule: string, from: Word, to: Word): void => {
    found.push({ entity: "LOCATION", rule, start: from.start, end: to.end });
  };
  for (let i = 0; i < words.length; i++) {
    const word = words[i];
    if (word === undefined || word.code) continue;
    const near = words[i - 1];
    const next = words[i + 1];
    if (!(word.capitalised || word.capitals)) {
      // `bij station Zwolle`, `la gare de Lyon`
      const named = STATIONS_BEFORE.test(word.plain)
        ? /^(?:de|du|di|da|do|del|della)$/.test(next?.plain ?? "")
          ? words[i + 2]
          : next
        : undefined;
      if (named?.capitalised === true && named.gap === " " && isKnown(named.plain)) add("station", named, named);
      continue;
    }
    if ((AIRPORTS.has(word.plain) && !word.opens) || isListedPlace(text, words, i)) {
      add("city or country", word, word);
      continue;
    }
    // `Victoria Station`, `Bahnhof Altona`, `Gare de Lyon`.
    if (next?.gap === " " && STATIONS.test(next.plain) && next.capitalised && !STATIONS.test(word.plain) && !word.opens) {
      add("station", word, next);
      i++;
      continue;
    }
    if (STATIONS_BEFORE.test(word.plain) && next?.gap === " ") {
      let at = i + 1;
      while (at < i + 3 && /^(?:de|du|des|di|da|do|del|della|la|of|van)$/.test(words[at]?.plain ?? "")) at++;
      const name = words[at];
      if (name?.capitalised === true && (name.gap === " " || name.gap === "-")) {
        add("station", word, name);
        i = at;
        continue;
      }
    }
    const behind = near !== undefined && word.gap === " " && IN_PLACES.has(near.plain);
    const addressed = near !== undefined && /^,? ?\d{4,5} $|^\.?, $|^ ?[-–] $|^ \d{4,5} $|^, \d{2}-\d{3} $/.test(word.gap);
    // `Storgatan 14, Umeå`, `ul. Długa 22/4, Kraków`: behind a house number, what is somebody's name as well only in an address.
    const housed = near !== undefined && /^,? (?:n[.º°] ?)?\d{1,5}(?:[/-]\d{1,4})?, (?:\d{2}-?\d{3} )?$/.test(word.gap);
    // `Johannesburg | +27 ...` over a letter
    const headed = word.opens && /^ ?[|·•] /.test(text.slice(word.end, word.end + 3));
    const owned = next?.gap === " " && OF_COMPANY.has(next.plain) && !word.opens;
    if (!(behind || addressed || owned || housed || headed)) continue;
    if (behind && CONTINENTS.has(word.plain)) {
      add("continent", word, word);
      continue;
    }
    if (STARTS.has(word.plain)) {
      let matched = 0;
      for (let length = 3; length > 0 && matched === 0; length--) {
        const name = words.slice(i, i + length);
        if (name.length < length || name.some((w, at) => at > 0 && !/^[ -]$/.test(w.gap))) continue;
        const plain = name.map((w) => w.plain).join(" ");
        if (!LARGE.has(plain) && !(TOWN.has(plain) && isMeant(plain, near, behind, owned || housed))) continue;
        if (headed && (isGivenName(plain) || isFamilyName(plain))) continue;
        add("city or country", word, name.at(-1) ?? word);
        matched = length;
      }
      i += Math.max(0, matched - 1);
      if (matched > 0) continue;
    }
    if (
      WORDLIKE.has(word.plain) &&
      ((behind && IN_WORDLIKE.has(near.plain)) || (addressed && /\d/.test(text.slice(Math.max(0, word.start - 24), word.start))))
    ) {
      if (next === undefined || next.gap !== " " || !next.capitalised) add("city or country", word, word);
      continue;
    }
    if (
      behind &&
      word.capitalised &&
      next?.gap !== "-" &&
      LIVES_IN.test(plainOf(text.slice(Math.max(0, word.start - 24), word.start)))
    ) {
      if (!/^(?:i|it|my|our|her|his|the|this|that)$|day$|uary$|ember$/.test(word.plain) && !NO_TOWNS.has(word.plain))
        add("where one lives", word, word);
      continue;
    }
    if (
      behind &&
      /^(?:from|to|for|between|near|von|nach|de|a|para|per|da|di|naar|van|z|do|fran|till)$/.test(near.plain) &&
      isTravelled(text, near.start) &&
      next?.gap !== "-"
    )
      add("where one goes", word, word);
  }
  return found;
}

/** Months and days, with which one is born too. */
const NO_TOWNS = setOf(
  "january february march april may june july august september october november december januar februar marz april mai juni juli august oktober dezember spring summer autumn winter fruhling fruhjahr sommer herbst",
);

const isKnown = (plain: string): boolean => LARGE.has(plain) || TOWN.has(plain) || WORDLIKE.has(plain);

/** A small town that is somebody's name as well is the town only where people live and work. */
function isMeant(plain: string, near: Word | undefined, behind: boolean, owned: boolean): boolean {
  if (owned || !(isGivenName(plain) || isFamilyName(plain))) return true;
  return behind && /^(?:in|near|around|outside|aus|nach|en|em|w|i)$/.test(near?.plain ?? "");
}

function isTravelled(text: string, before: number): boolean {
  return TRAVELS.test(text.slice(Math.max(0, before - 48), before).toLowerCase());
}
