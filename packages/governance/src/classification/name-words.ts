/** Abbreviations and words of other languages in names of columns, as the lexicon's English says them. Without accents, in lower case, singular. */
const SAYS: readonly (readonly [said: string, means: string])[] = [
  ["nm|nme", "name"],
  ["nbr|nmbr|nr|numero|nummer", "number"],
  ["addr|adr|adresse|direccion|indirizzo|endereco|adre|adres", "address"],
  ["acct|acc|konto|compte|cuenta|conto", "account"],
  ["lst", "last"],
  ["frst|fst", "first"],
  ["cust|cst|kunde|client|cliente", "customer"],
  ["mob|movil|cellulare|handy|celular", "mobile"],
  ["drv", "driver"],
  ["lic", "license"],
  ["dx", "diagnosis"],
  ["zip\\d", "zip"],
  ["vorname|prenom|voornaam", "first name"],
  ["nachname|familienname|apellido|cognome|achternaam|sobrenome", "last name"],
  ["nombre completo|nom complet|nome completo|vollstandiger name", "full name"],
  ["telefon|telefono|telefone|telefonnummer|telephone|rufnummer|handynummer|mobilnummer|telefoonnummer", "phone number"],
  ["strasse|straße|rue|calle|straat", "street"],
  ["geburtsdatum|geburtstag|geboortedatum", "date of birth"],
  ["(?:date|fecha|data) (?:de |di )?(?:naissance|nacimiento|nascita|nascimento)", "date of birth"],
  ["correo(?: electronico)?|courriel|mailadresse|posta elettronica", "email"],
  ["passwort|kennwort|contrasena|mot de passe|senha|wachtwoord|parola chiave", "password"],
  [
    "kreditkarte|kreditkartennummer|carte (?:bancaire|de credit)|tarjeta(?: de)? credito|carta di credito|creditcard",
    "credit card",
  ],
  ["kontonummer|numero de cuenta|numero conto", "account number"],
  ["gehalt|lohn|salaire|salario|stipendio|sueldo", "salary"],
  ["geschlecht|geslacht|sexe|sexo|sesso|genero", "gender"],
  ["steuernummer|steuerid|codice fiscale|numero fiscal|cpf|nif|rfc", "tax id"],
  ["personalausweis|ausweisnummer|dni|bsn|cedula|curp|securite sociale|sozialversicherungsnummer|personnummer", "national id"],
  ["reisepass|passeport|pasaporte|passaporto|paspoort", "passport"],
  ["fuhrerschein|permis de conduire|patente di guida|rijbewijs", "driver license"],
  ["code postal|codigo postal|codice postale|postleitzahl", "postal code"],
  ["krankheit|diagnostic|diagnostico|diagnosi|maladie|enfermedad", "disease"],
  ["staatsangehorigkeit|nationalite|nacionalidad|nazionalita", "nationality"],
  ["familienstand|etat civil|estado civil|stato civile", "marital status"],
  ["stadt|ville|ciudad|citta|cidade", "city"],
];

const PATTERNS = SAYS.map(([said, means]) => [new RegExp(`\\b(?:${said})\\b`, "gu"), means] as const);

const ANY = new RegExp(`\\b(?:${SAYS.map(([said]) => said).join("|")})\\b`, "u");

/** The words of a name in the lexicon's English; the same text when there is nothing to translate. */
export function inLexiconEnglish(words: string): string {
  let text = words.normalize("NFD").replace(/\p{Mn}/gu, "");
  if (!ANY.test(text)) return text;
  for (const [pattern, means] of PATTERNS) text = text.replace(pattern, means);
  return text;
}
