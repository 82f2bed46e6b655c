const setOf = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

const CURRENCY =
  "usd|eur|gbp|chf|sek|nok|dkk|pln|czk|brl|cad|aud|inr|zar|kes|ngn|try|r\\$|kr\\.?|dollars?|euros?|pounds?|quid|z[lł](?:otych)?|reais|kronor|francs?|franken|rupees?|rand|naira|lira|tl";
const SIGN = "[$£€¥₹₺₦]";
const DIGITS = "\\d[\\d., \\u00a0\\u202f']{0,12}\\d|\\d";
/** A sum of money: with its currency on either side, or in thousands. */
const SUM = `(?:${SIGN}|\\b(?:${CURRENCY})) ?(?:${DIGITS})(?: ?[km]\\b| ?(?:thousand|mille|mil|tausend|lakhs?|lpa)\\b)?|(?:${DIGITS}) ?(?:${SIGN}|(?:k|(?:k )?(?:${CURRENCY})|thousand|mille|mil|tausend|duizend|tysiecy|tys\\.?|bin|lakhs?|lpa)(?![\\p{L}\\d]))`;
/** A bare number that a word of pay beside it makes one: `4.200 brutto`, `52,000 a year`. */
const BARE = `(?:\\d{1,3}(?:[., \\u00a0\\u202f']\\d{3})+|\\d{3,6})(?:[.,]\\d{2})?(?= ?(?:brutto|netto|net\\b|bruts?\\b|nets?\\b|gross|base\\b|basic\\b|bruto|neto|brutos|liquidos?\\b|lordi?|netti|(?:a|per) (?:year|month|annum)|p\\.?a\\.?\\b|p\\.?m\\.?\\b|im (?:jahr|monat)|par (?:an|mois)|al (?:mes|ano)|all'anno|al mese|por (?:mes|ano)|per (?:maand|jaar)|i manaden|i manad|miesiecznie|rocznie|aylik))`;
const AMOUNT = new RegExp(`${SUM}|${BARE}`, "iu");
/** Every sum of a sentence. */
export const AMOUNTS = new RegExp(`(?:${SUM}|${BARE})`, "giu");

/** Words for pay that mean little else. */
const PAY =
  /^(?:salar(?:y|ies)|wages?|earns?|earned|earning|earnings|compensation|remuneration|paycheck|payslip|payrise|payout|take-home|gehalt\w*|\w{3,}gehalt|lohn|\w{3,}lohn|lohnt|verdient|verdiene|verdienen|bruttogehalt|gehaltserhohung|weihnachtsgeld|abfindung|salaires?|remuneration|augmentation|salarios?|sueldo|cobra|cobro|nomina|stipendio|guadagna|guadagno|retribuzione|ral|tredicesima|ordenado|ganha|ganho|vencimento|salaris|\w{3,}salaris|salarisverhoging|verdien|loonsverhoging|pensja|pensje|zarabia|zarabiam|wynagrodzenie|wynagrodzenia|podwyzke|podwyzka|lon|lonen|lonn|tjanar|manadslon|loneforhojning|maas|maasi|maasim|maasini|kazaniyor)$/;
/** Words that mean other things too. */
const WEAK_PAY = setOf(
  `paid pay pays makes make made making income touche gana gano bonus on bonuses loon gagne gagnait brutto netto base basic raise rise raised offer offered offers package rate rates pension pensions allowance stipend commission overtime severance payroll net gross ctc ote equity mortgage bump bumped accept accepts accepted asking asks wants expects expectation expectations current counter counteroffer counter-offer relocation sign-on signing
  stundensatz tagessatz stundenlohn tagsatz angebot fordert gehaltsvorstellung pramie provision rente zulage hypothek monatlich kredit bekommt passe passer prime primes taux tjm indemnite indemnites retraite pret hypothecaire
  tarifa prima oferta subida aumento paga extra hipoteca jubilacion pide bruto brutos neto anuales ofrecemos
  tariffa premio aumento offerta paga mutuo pensione lordi lordo netti prende chiede
  proposta oferta recebe bonus aumento reforma hipoteca premio liquido pede
  uurtarief dagtarief tarief aanbod opslag verhoging pensioen hypotheek vraagt krijgt bonus
  premia stawka emerytura brutto netto hojs hojning pension timlon erbjudande zam teklif emekli prim`,
);
/** By the year, month, day or hour, or another word that makes a weak one mean pay. */
const BY_TIME =
  /\b(?:a|per|an?) (?:year|annum|month|week|hour|day)\b|\/ ?(?:yr|year|mo|month|hr|h|hour|day|d|jour|mois|tag|stunde|std|monat|dia|mes|ora|mese|uur|dag|maand)\b|annual|yearly|monthly|hourly|daily rate|\bp\.?[ah]\.?\b|base (?:pay|is|of|salary)|(?:new|his|her|my|current) base|\d ?k base|base,? plus|im (?:jahr|monat)|jahrlich|pro (?:stunde|tag|monat|jahr)|par (?:an|mois|jour|heure)|de l'heure|al (?:ano|mes|dia)|por (?:hora|ano|mes|dia)|all'anno|al (?:mese|giorno)|all'ora|l'anno|per (?:jaar|maand|uur|dag)|(?:€|\d) ?(?:netto|brutto)|brutto|netto|\bbrut[oae]?s?\b|\bnets? (?:par|mensuels?|al|por|pay)|last year|next year|salary|\b(?:pay )?(?:raise|rise)\b|counter-?offer|(?:job )?offer(?:ed)? (?:him|her|me|of)|(?:his|her|my) (?:\w+ )?(?:offer|bonus|pension|mortgage|severance|day rate|hourly rate|commission|allowance|package|stipend|relocation|sign-on|signing bonus|equity|income|rate)\b|\b(?:i'm|i am|he's|she's|is|was|currently|been) on (?:about |around |only |just )?[£$€]?\d|offered \w+(?: \w+)? (?:[£$€]|\d+ ?k)|would accept|'d accept|she'd accept|he'd take|expects|asking for|(?:bonus|pension|severance|commission|stipend) of|ctc|\bote\b|monatlich|gehalts\w+|stundensatz|tagessatz|augmentation|(?:son|sa|ses|mon|ma) (?:prime|bonus|augmentation|retraite|taux|pret)|(?:su|mi) (?:bono|prima|pension|hipoteca|subida|sueldo|oferta)|(?:suo|sua|mio|mia) (?:premio|aumento|pensione|mutuo|bonus|offerta)|(?:seu|sua|meu|minha) (?:bonus|aumento|reforma|hipoteca|proposta)|(?:sein|seine|seinen|ihr|ihre|ihren|mein|meine|meinen) (?:bonus|pramie|rente|provision|zulage|stundensatz|tagessatz|angebot|hypothek|abfindung)|(?:zijn|haar|mijn) (?:bonus|pensioen|hypotheek|tarief|uurtarief|opslag|verhoging)|i manaden|miesiecznie|ay(?:lik|da)/;
/** Figures about everybody, and what is bought and sold. */
const NOT_PAY =
  /\b(?:average|median|minimum|bands?(?! \d)|range|typical|durchschnitt\w*|moyen\w*|medio|media|gemiddeld\w*|invoices?|orders?|budget|revenue|company makes|sales|price[ds]?|prices|costs?|discount\w*|subscription|licen[cs]e|per (?:seat|user|item|unit|ticket)|hosting|refund\w*|shipping|cart|tickets?|rechnung\w*|bestellung|preis\w*|kostet|rabatt|abo|facture\w*|commande|prix|coute|abonnement|factura\w*|pedido|precio|cuesta|fattura\w*|ordine|prezzo|costa|fatura\w*|encomenda|preco|custa|factuur|bestelling|prijs|kost|interest rate|exchange rate|conversion rate|heart rate|offer price|special offer|angebot gilt|angebotspreis|database|latency|requests|turnover|umsatz|funding)\b/;

/** Questions how much somebody gets. */
const HOW_MUCH = /\b(?:how much|what|wie ?viel|was|combien|quel(?:le)?|cuanto|que|quanto|quale?|hoeveel|wat)\b/;

/** True for a word that may speak of pay; `plain`: without accents, in lower case. */
export function isPayWord(plain: string): boolean {
  return WEAK_PAY.has(plain) || PAY.test(plain);
}

/** True where a sentence with such a word says a sum that somebody gets. */
export function isPaid(word: string, sentence: string): boolean {
  return AMOUNT.test(sentence) && !NOT_PAY.test(sentence) && (!WEAK_PAY.has(word) || BY_TIME.test(sentence));
}

/** True where a question about somebody asks how much. */
export function asksForPay(sentence: string): boolean {
  return HOW_MUCH.test(sentence);
}
