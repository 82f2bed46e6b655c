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
export function inRequestEnglish(words: string): string {
  const plain = /[^ -~]/.test(words) ? words.normalize("NFD").replace(/\p{Mn}/gu, "") : words;
  if (!ASKS.test(plain)) return words;
  let text = plain;
  for (const [pattern, means] of PATTERNS) text = text.replace(pattern, means);
  return text.replace(/\b(?:the )+/g, "the ");
}
