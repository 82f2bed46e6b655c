import { checkArgument } from "@seneschal/kernel";
import { isMeant, type LexiconTerm, namesBusiness, namesPeople, possibleTerms } from "./lexicon.ts";
import { isOnlyAbout } from "./names/heads.ts";
import { wordsOf } from "./names/words-of.ts";

/**
 * Words of German, French, Spanish and Italian in requests for data, as the English rules say them. Without accents, in lower case, joined by blanks; longer phrases first. Names of
 * data (`telefonnummer`) are the table of column names.
 */
const SAYS: readonly (readonly [said: string, means: string])[] = [
  // What to do.
  ["exportier(?:e|en|t)?|exporte[rz]?|exportar|exporta|esporta(?:re)?|ausgeben", "export"],
  ["herunterladen|runterladen|herunter|telecharge[rz]?|descargar|descarga|scarica(?:re)?", "download"],
  ["zeigen?|auflisten|anzeigen|gib|montre[rz]?|affiche[rz]?|lister|muestra(?:me)?|mostrar|listar|mostra(?:mi|re)?|dame", "show"],
  ["send(?:e|en)|schick(?:e|en)|verschicken|envoye[rz]?|envoie|enviar|envia|invia(?:re)?", "send"],
  ["losch(?:e|en)|entfern(?:e|en)|supprime[rz]?|efface[rz]?|borrar|borra|eliminar|elimina|cancella(?:re)?", "delete"],
  ["aktualisier(?:e|en)|actualizar|actualiza|mettre a jour|modifie[rz]?|aggiorna(?:re)?", "update"],
  // How much of it.
  ["wie viele|combien de|combien|cuant[oa]s?|quant[ie]", "how many"],
  ["durchschnitt(?:liche[nrs]?)?|moyenne|promedio", "average"],
  ["alle[nrsm]?|samtliche[nrsm]?|tou(?:s|tes?)|tod[oa]s?|tutt[ie]|liste der|liste des|lista de", "all"],
  // What not.
  ["ohne|sans?|sin|senza|ausser|sauf|excepto", "without"],
  ["maskiert(?:e[nrsm]?)?|masques?|masquees?|enmascarad[oa]s?|mascherat[ie]", "masked"],
  ["anonymisiert(?:e[nrsm]?)?|anonymise(?:e?s)?|anonimizad[oa]s?|pseudonymisiert(?:e[nrsm]?)?", "anonymised"],
  // Whose.
  ["kunden?|clients?|clientes?|clienti", "customer"],
  ["mitarbeiter(?:innen|n)?|angestellte[nr]?|employee?s?|salarie(?:e?s)?|empleados?|dipendenti", "employee"],
  ["nutzer(?:innen|n)?|benutzer(?:innen|n)?|utilisateurs?|usuarios?|utenti", "user"],
  ["patient(?:en|innen|s)?|pacientes?|pazienti", "patient"],
  // Which data, in the plural and with the words between that columns do not have.
  [
    "e ?mail ?adressen?|mailadressen?|adress(?:e|es)? (?:e )?(?:mail|electroniques?)|e mails?|correos?(?: electronicos?)?|courriels?|indirizzi email",
    "email",
  ],
  [
    "telefon(?:e|nummern?)|handynummern?|numeros? de (?:telephone|telefono|movil)|telephones?|telefonos?|numeri di telefono",
    "phone number",
  ],
  ["geburts(?:tage?|daten|datum)|dates? de naissance|fechas? de nacimiento|date di nascita", "date of birth"],
  ["adress(?:en?|es)?|anschrift(?:en)?|wohnadressen?|direccion(?:es?)?|indirizzi", "address"],
  ["gehalt|gehalter|lohne|salaires?|salarios?|sueldos?|stipendi", "salary"],
  ["diagnosen?|diagnostics?|diagnosticos?|diagnosi", "diagnosis"],
  ["kreditkarten(?:nummern?|daten)?|cartes? (?:de credit|bancaires?)|tarjetas? de credito|carte di credito", "credit card"],
  ["passwort(?:er)?|mots? de passe|contrasenas?", "password"],
  ["noms?|nombres?|namen", "name"],
  // Articles and the like say nothing here.
  [
    "der|die|das|den|dem|des|unsere?[rnms]?|aus|von|aller|le|la|les|l|du|de|d|nos|notre|leurs?|los|las|el|sus?|nuestr[oa]s?|i|gli|dei|delle|bitte|por favor|moi",
    "the",
  ],
];

const PATTERNS = SAYS.map(([said, means]) => [new RegExp(`\\b(?:${said})\\b`, "g"), means] as const);
/** A verb or a quantity of these languages: without one the text is English, or asks for nothing. */
const ASKS = new RegExp(
  `\\b(?:${SAYS.slice(0, 8)
    .map(([said]) => said)
    .join("|")}|liste|lista|lade)\\b`,
);

/** The words of a request in the English that the rules know; the same words where they are English already. */
function inRequestEnglish(words: string): string {
  const plain = /[^ -~]/.test(words) ? words.normalize("NFD").replace(/\p{Mn}/gu, "") : words;
  if (!ASKS.test(plain)) return words;
  let text = plain;
  for (const [pattern, means] of PATTERNS) text = text.replace(pattern, means);
  return text.replace(/\b(?:the )+/g, "the ");
}

/** What a sentence asks for. */
export interface DataRequest {
  readonly operation: "READ" | "EXPORT" | "WRITE" | "DELETE";
  /** All of it, figures about it, or neither said. */
  readonly scope: "bulk" | "aggregate" | "unspecified";
  /** Kinds of data asked for, without those that the sentence excludes. */
  readonly objects: readonly { readonly term: LexiconTerm; readonly masked: boolean }[];
  /** It names things or people of a business. */
  readonly business: boolean;
}

const EXPORTS =
  /^(?:export|download|dump|extract|share|send|email|mail|transfer|upload|copy|unload|forward|publish|sync|backup|leak|sell)$/;
const READS =
  /^(?:show|list|get|give|fetch|find|display|select|retrieve|pull|read|view|report|query|print|return|look|lookup|search|see|count|compute|calculate|summarize|summarise|analyze|analyse|what|which|who|join)$/;
const DELETES = /^(?:delete|remove|purge|erase|drop|truncate|wipe)$/;
const WRITES = /^(?:update|insert|overwrite|modify|correct|append|write)$/;
const BULK = /\b(?:all|every|each|full|entire|complete|whole|list of|everything|everyone)\b/;
const AGGREGATE =
  /\b(?:how many|count|average|avg|mean|median|(?:^|(?:the|total|exact|what is|give me|show|count|me|a) )number of|total|sum of|trend|percentage|percent|share of|distribution|breakdown|histogram|statistics|rate of|per (?:month|week|day|year|region|country))\b/;
const MASKED =
  /\b(?:mask|masked|masking|hashed|hash|anonymized|anonymised|anonymous|pseudonymized|pseudonymised|redacted|tokenized|tokenised|encrypted|obfuscated|de identified|deidentified|blinded)\b/;
/** Words that only a request about people makes personal. */
const OF_PEOPLE: readonly LexiconTerm[] = [
  { entity: "PERSON", term: "name", match: /\bname\b/ },
  { entity: "STREET_ADDRESS", term: "address", match: /(?<!\b(?:mail|ip|mac|web|wallet|network) )\baddress\b/ },
];
const QUESTION = /^(?:is|has|num|nb|n|count|number of|no of|avg|average|max|min)\b/;
/** Verbs of moving data that are little else: also behind other words. */
const MOVES = /^(?:export|download|dump|extract|unload)$/;
const LEFT_OUT =
  /\b(?:without|excluding|except|no|minus|omit|omitting|drop|dropping)(?: (?:the|any|all|their|its|his|her|our))?(?:(?: \w{1,30}){1,2} (?:and|or)(?: (?:the|any|all|their|its|his|her|our))?)?$/;
/** Questions about the world: of no records, nobody's and no system of one's own. */
const ASKS_ABOUT = /^(?:what|which|who) (?!.*\b(?:our|we|us|stored|database|system|server|field|column)\b)/;
/** `which customers have a criminal record`: it is theirs. */
const THEIRS = /\b(?:have|has|having|with|in) an?$/;
/** `bob s salary`: somebody's, who is no place, time or thing. */
const SOMEBODYS =
  /(?<!\b(?:it|what|that|who|here|there|let|he|she|how|when|where|today|yesterday|tomorrow|year|month|week|day|world|country|nation|one|everyone|nobody|app|site|page|form|system|server|product|alzheimer|parkinson|crohn|hodgkin|huntington|graves|addison|cushing|tourette|asperger|down)) s(?: \w{1,30}){0,2}$/;
/** `tell me the admin password`. */
const THE_SECRET = /\b(?:what (?:is|s)|tell|give|show|send|get)(?: (?:me|us))? the(?: \w{1,30}){0,2}$/;
/** `the salary of Mr Miller`. */
const OF_SOMEBODY =
  /\b(?:of|for|von|de|di)\s(?:(?:mr|mrs|ms|dr|herrn?|frau|mme|sra?|signora?)\b|my (?:colleague|boss|neighbou?r|manager))/i;
const OWN = /\b(?:my|your|our|a|an|this|that|his|her|new|me|i|which)(?: [a-z]+)?$/;

/**
 * Reads a sentence as a request for data: verb, object, scope, negators. `undefined` when it asks for nothing: talk about one's own card or mail is no request
 * for the data of others.
 */
export function requestOf(text: string): DataRequest | undefined {
  checkArgument("text", text, "string");
  // `export KEY=value` of a shell hands nothing out.
  const given = wordsOf(text.slice(0, 4000).replace(/(?<![^\n])\s{0,8}export [A-Za-z_]\w{0,60}=/g, " ")).join(" ");
  const joined = inRequestEnglish(given);
  const words = joined.split(" ").filter((word) => word !== "");
  const operation = operationOf(words);
  const aggregate = AGGREGATE.test(joined);
  // `secret: my-database` gives a value its name.
  const phrase =
    words.length <= 6 && words.length > 0 && !/^\s*[\w"']{1,60}\s?[:=]/.test(text) && !/[.!?]/.test(text.trim().slice(0, -1));
  if (operation === undefined && !aggregate && !phrase && !OF_SOMEBODY.test(text)) return undefined;
  // `The average salary rose last year.` tells a figure and asks for none.
  if (operation === undefined && !phrase && words.length > 7 && /\.\s*$/.test(text) && !text.includes("?")) return undefined;
  const masked = MASKED.test(joined);
  const objects: { term: LexiconTerm; masked: boolean }[] = [];
  const people = namesPeople(joined);
  let owned = OF_SOMEBODY.test(text);
  for (const term of [...possibleTerms(joined), ...(people ? OF_PEOPLE : [])]) {
    const match = term.match.exec(joined);
    if (match === null || (term.unless?.test(joined) ?? false)) continue;
    if (term.personal === true && (term.usual === true || !isMeant(term, joined))) continue;
    // `password policy` is no password; `is the email verified` asks for none.
    const after = joined
      .slice(match.index + match[0].length)
      .trimStart()
      .split(" ", 1);
    if (isOnlyAbout(term.entity, QUESTION.test(joined) ? words.slice(0, 1) : [], after)) continue;
    const before = joined.slice(0, match.index).trimEnd();
    if (OWN.test(before) && !BULK.test(before) && !(people && THEIRS.test(before))) continue;
    if (LEFT_OUT.test(before)) continue;
    // The verb `email` and the noun `email` are one word: at the start of a request it is the verb.
    if (
      term.entity === "EMAIL_ADDRESS" &&
      match.index === 0 &&
      words.length > 1 &&
      EXPORTS.test(words[0] ?? "") &&
      words[0] === "email"
    ) {
      const again = term.match.exec(joined.slice(6));
      if (again === null) continue;
    }
    if (objects.some((object) => object.term.entity === term.entity)) continue;
    owned ||= SOMEBODYS.test(before) || (term.entity === "PASSWORD" && THE_SECRET.test(before));
    objects.push({ term, masked });
  }
  const business = namesBusiness(words);
  // A bare phrase counts only when it names data of people or business in the plural or with its owner.
  if (objects.length === 0) owned = false;
  if (operation === undefined && !aggregate && !owned && (!business || objects.length === 0)) return undefined;
  if (objects.length === 0 && !business) return undefined;
  // `What are the symptoms of diabetes?` wants to know, not to see data.
  if (!business && !owned && !aggregate && ASKS_ABOUT.test(joined) && !BULK.test(joined)) return undefined;
  if (objects.length > 0 && !business && !owned && !aggregate && !BULK.test(joined) && !plural(text) && operation !== "EXPORT")
    return undefined;
  return {
    operation: operation ?? "READ",
    scope: aggregate ? "aggregate" : BULK.test(joined) ? "bulk" : "unspecified",
    objects,
    business,
  };
}

/** The first word that is a verb of data work, at the start or behind a polite opening. */
function operationOf(words: readonly string[]): DataRequest["operation"] | undefined {
  const opening =
    /^(?:please|can|could|would|you|i|we|want|need|to|like|let|us|me|kindly|help|just|now|then|and|how|do|must|should|for|hi|hello|a|an|the|some|also)$/;
  for (const word of words.slice(0, 12)) {
    if (EXPORTS.test(word)) return "EXPORT";
    if (DELETES.test(word)) return "DELETE";
    if (WRITES.test(word)) return "WRITE";
    if (READS.test(word)) return "READ";
    if (!opening.test(word)) break;
  }
  // Behind other words too: `kunden ohne e mail adressen exportieren`.
  return words.slice(0, 30).some((word) => MOVES.test(word)) ? "EXPORT" : undefined;
}

function plural(text: string): boolean {
  return /[a-z]{2,}s\b/i.test(text.replace(/\b(?:is|this|was|has|does|address|access|us|its|as|yes|please)\b/gi, ""));
}
