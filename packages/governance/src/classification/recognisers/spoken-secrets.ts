import type { Recogniser } from "../search/recogniser.ts";
import { isSecretPlaceholder } from "./secret-placeholder.ts";

/** Words for a password, as people write them to each other. */
const PASSWORD =
  "(?:pass(?:word|phrase|code|wd)|psw|pswd|ww|contra|lösen|pass ?phrase|pwd?|pass|login pw|passwort|kennwort|zugangswort|mot de passe|mdp|contrase[nñ]a|clave|senha|palavra-passe|wachtwoord|parola d['’]ordine|parola chiave|hasło|haslo|lösenord(?:et)?|losenord(?:et)?|şifre(?:si)?|sifre(?:si)?|parola(?:sı|si)?)";
/** What a code or a key of digits opens: other codes (of an error, of a product, of the post) are none. */
const OPENS =
  "(?:wi-?fi|wlan|wireless|guest|router|hotspot|network|door|gate|garage|building|entry|access|alarm|safe|key ?box|lock ?box|locker|keypad|security|front door|back door|side door|house|office|unlock|sim|card|phone|tür|haustür|tor|zugangs|alarm|tresor|schlüsselkasten|handy|karten|porte|portail|immeuble|alarme|coffre|puerta|portal|alarma|caja fuerte|portone|cancello|allarme|cassaforte|porta|portão|cofre|deur|poort|kluis|toegangs|drzwi|domofonu|bramy|alarmu|sejfu|port|larm|dörr|kapı|apartman|kasa)";
const CODE = `(?:${OPENS}[ -]?(?:code|key|pin|combination|schlüssel|passwort|kod|koden|kodu)|(?:code|key|pin|combination|combo|code pin|code d['’]accès|digicode|code|codice|código|codigo|kod|chiave|clave|clé)(?: (?:for|to|of|on|für|zu|zum|zur|vom|von|du|de|des|del|della|dell['’]|do|da|di|para|per|pour|van|voor|do|till))?(?: (?:the|my|our|his|her|die|der|den|das|dem|la|le|les|l['’]|el|il|o|a|de|het))? ?${OPENS})`;
const PIN = "(?:pin(?:[ -]?(?:code|nummer|number|kod|koden))?|geheimzahl|digicode|pincode|portkod(?:en)?)";
/** Whose or what for: `for the old NAS`, `du serveur`. */
const OF =
  "(?: (?:for|to|of|on|at|für|von|vom|zu|zum|zur|des|der|du|de|del|della|do|da|para|per|pour|van|voor|na|til|till|do)(?: [\\p{L}\\d.'’-]{1,24}){1,5}?)?";
const IS =
  "(?: ?[:=]| (?:is|was|are|be|will be|lautet|ist|war|est|était|es|era|è|é|luidt|to|är|olarak|set to|changed to|geändert auf|geändert in))(?: (?:still|now|again|just|currently|simply|always|immer noch|noch|jetzt|nun|wieder|einfach|toujours|encore|maintenant|todavía|ahora|sigue siendo|ancora|adesso|ora|sempre|ainda|agora|nog steeds|nog|nu|gewoon|nadal|teraz|fortfarande)){0,2}";
const LEFT = "(?<![\\p{L}\\d_-])";
const QUOTE = "[\"'„“”«`‘’]?";
/** Letters with digits or signs. */
const VALUE = `${QUOTE}(?!https?:|\\d{1,3}-\\p{L})(?=[^\\s"',;&“”»\`]{0,64}\\p{L})(?=[^\\s"',;&“”»\`]{0,64}(?:[\\d#$%&*@^_]|![^\\s"',;&“”»\`]))[^\\s"',;&“”»\`]{4,64}`;
/** What nothing but a password looks like: letters of both kinds, digits, and eight of them or a sign. */
const DRAWN = `${QUOTE}(?=[^\\s"',;&“”»\`]{0,64}\\p{Lu})(?=[^\\s"',;&“”»\`]{0,64}\\p{Ll})(?=[^\\s"',;&“”»\`]{0,64}\\d)(?=[^\\s"',;&“”»\`]{0,64}[#$%*@^!_?+]|\\p{L}{4,24}\\d{2,4}(?![^\\s"',;.&“”»\`]))[^\\s"',;&“”»\`]{7,64}`;
const DIGITS = "(?=[\\d# *-]{4,14})(?:[#*]? ?\\d){4,10}[#*]?(?![\\p{L}\\d]|[.,:/-]\\d)";
const LOGIN =
  "(?:log[ -]?in|user(?: ?name)?|usr|account|cred(?:ential)?s|zugang|zugangsdaten|anmeldedaten|login-daten|benutzer(?:name)?|identifiants?|utilisateur|acceso|usuario|credenciales|credenziali|utente|accesso|credenciais|usuário|utilizador|acesso|inloggegevens|gebruiker(?:snaam)?|dane logowania|użytkownik|inloggning|användare|kullanıcı(?: adı)?)";

const WORD_OF_SECRETS =
  /pass|p(?:w|in)\b|pwd|psw|\bww\b|contra\b|pin|code|kod|key|combin|combo|kennwort|mdp|contrase|clave|senha|wachtwoord|parola|has[lł]o|l[oö]senord|[sş]ifre|chiave|cl[eé]|zahl|codice|c[oó]digo|schl[uü]ssel|log[ -]?in|user|usr|cred|zugang|anmelde|benutzer|identifiant|utili|acc?es|usu|utente|inlog|gebruik|logowania|u[zż]ytk|anv[aä]nd|kullan/iu;

/** Passwords, codes of doors and PINs, as people tell them to each other in sentences. */
export const spokenSecrets: readonly Recogniser[] = [
  {
    entity: "PASSWORD",
    patterns: [
      { name: "told in a sentence", regex: new RegExp(`${LEFT}${PASSWORD}${OF}${IS} ?${VALUE}`, "giu"), score: 0.7 },
      { name: "right behind its word", regex: new RegExp(`${LEFT}${PASSWORD} ${DRAWN}`, "gu"), score: 0.7 },
      {
        // Said with how to spell it: `bluebird with a capital B`.
        name: "with how it is spelt",
        regex: new RegExp(
          `${LEFT}(?:${PASSWORD}|${CODE})${OF}${IS} ?${QUOTE}[\\p{L}\\d]{3,30}(?: [\\p{L}\\d]{2,20}){0,3}?(?= ?[,(–-]? ?(?:all (?:in )?(?:lower|small|caps)|all one word|no spaces|(?:with|mit|avec|con|com|met|z|med)(?: (?:an?|the|two|einem?|une?|le|la|una?|il|um|uma|een|stort?))? ?(?:capital|upper|big|zeros?|exclamation|underscore|three|großem|großen|großgeschrieben|null|ausrufezeichen|majuscule|zéro|mayúscula|cero|maiuscol|maiúscul|zero|hoofdletter|nul|wielk|wykrzyknik|stor|nolla)|in (?:lower|upper) ?case|alles klein|alles zusammen|klein geschrieben|zusammengeschrieben|en minuscules|en majuscules|todo junto|tudo junto|tutto attaccato|minuscol|en minúsculas|aan elkaar))`,
          "giu",
        ),
        score: 0.7,
      },
      { name: "code that opens", regex: new RegExp(`${LEFT}${CODE}${OF}(?:${IS}|,)? ?${QUOTE}${DIGITS}`, "giu"), score: 0.7 },
      {
        name: "code that opens, told",
        regex: new RegExp(
          `${LEFT}(?:${CODE}|${PIN})${OF}${IS} ?${QUOTE}(?:${DIGITS}|(?=[\\p{L}\\d-]{0,32}\\d)(?=[\\p{L}\\d-]{0,32}\\p{L})[\\p{L}\\d-]{6,32})`,
          "giu",
        ),
        score: 0.7,
      },
      {
        name: "beside a user name",
        regex: new RegExp(
          `${LEFT}${LOGIN}${OF}(?:(?: ?[:=]| (?:is|are|ist|est|es|è|é|to|är)) ?${QUOTE}[^\\s/|:"',;]{2,64}${QUOTE} ?[/|]|(?: ?[:=]| (?:is|are|ist|est|es|è|é|to|är))? ?${QUOTE}[^\\s/|:"',;]{2,64}${QUOTE},? (?:and )?(?:with )?(?:the )?${PASSWORD}(?: ?[:=]| is| ist| est)?) ?${VALUE}`,
          "giu",
        ),
        score: 0.7,
      },
    ],
    validate: (match) => (isSecretPlaceholder(match) ? false : undefined),
    context: [],
    needs: (folded) =>
      WORD_OF_SECRETS.test(folded) &&
      /[\d#$%&*@^!]|capital|upper|lower|gro(?:ß|ss)|klein|maj|may[uú]|mai[uú]|min[uú]s|hoofd|elkaar|junto|attacc|wielk/i.test(
        folded,
      ),
    prior: 1,
  },
];
