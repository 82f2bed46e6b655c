import { ABBREVIATIONS } from "./abbreviations.ts";
import { wordsOf } from "./words-of.ts";
import { WORDS_OF_LANGUAGES } from "./words-of-languages.ts";

/** Words of data about persons, as one word of a glued name. */
const DATA =
  "password passwd pswd pwd passphrase passcode pincode secret token apikey api key credential credentials credit debit card payment government cvv cvc ssn social security tax taxpayer taxid national identity identification insurance passport driver drivers driving license licence iban swift bank account acct routing sort salary sal wage wages compensation income payroll bonus pay remuneration earnings patient medical record health medicare beneficiary subscriber diagnosis diagnoses icd medication drug prescription allergy allergies symptom symptoms treatment disease illness condition blood pressure lab result test disability pregnant pregnancy hiv cancer diabetes therapy vaccine vaccination clinical mental history complaint biometric biometrics fingerprint face iris retina voice print template scan embedding genetic genome dna genotype sequence religion religious faith ethnic ethnicity race racial sexual orientation sexuality gender sex union membership trade political party affiliation email mail emailaddr address addr phone telephone mobile cell cellphone fax tel mac plate vehicle chassis birth birthday birthdate dob born street home house postal mailing billing bill shipping ship residential residence delivery latitude longitude lat lng long gps geo location coordinates coords name names first last middle maiden sur given family full fore nick surname forename nickname spouse mother mothers father child guardian emergency contact login user username handle age marital status nationality citizenship citizen zip zipcode postcode postal code city job title occupation wallet criminal conviction arrest recovery backup seed phrase mnemonic score otp totp mfa signing encryption pin visa vin permit alien green dni nif cpf bsn nir nss cni rfc jwt pan";

/** Whose the data are, and what kind or part of them. */
const QUALIFIERS =
  "customer cust client employee emp staff worker person people member applicant student teacher passenger guest buyer seller vendor supplier owner holder borrower tenant admin root database service svc ldap ftp smtp wifi wlan vpn ssh web portal device system sys master default temp tmp initial old new current curr prev previous primary secondary main alternate office work business company corp personal private public plain encrypted encr enc hashed hash salt text txt val value str string field fld column char varchar int num number nbr uid guid ref data info details amount amt total tot gross net base basic annual yearly monthly month hourly hour daily weekly year day date time timestamp start end line last4 usr mst client remote source src dest recipient sender parent partner manager doctor physician provider access refresh session auth oauth bearer client app service account acc group level band hint question answer reset one two unit ext extension";

/** What a name is about where it is not the thing itself. */
const HEADS =
  "changed change updated created modified expiry expires expired expiration policy rule count cnt flag type typ status verified required enabled valid attempts length format template version sent optin optout min max avg limit days";

/** What databases put before and behind a name, and write short: of kinds and parts, of whose it is, of where it is used. */
const AFFIXES =
  "adr adrs diag amt nbr nmbr nmb nums nrs ident idx descr desc fmt img doc docs cpy bak backup bkp hist histry prod prd test tst dev stg stage uat qa live tbl tab vw stgg lkp dim fact src tgt raw enc crypt cipher hex b64 sha1 sha256 md5 bcrypt digest tok pem der pfx jks json xml csv rec recs rcrd grp seq sess cred creds cert curr cur mnth mth yr yrs wk qtr avg net gross brut brutto netto lordo bruto bruta liquido neto neta mens annuel annuelle fixe port portable perso pers prenom zuname vers nummer numero numer kassen kasse akte akten mitarb kunde kunden arbeitn pat pers hcm sap crm erp plan grant memb fam rel spse dep depend benef";

/** Two letters are a word only beside longer ones. */
const SHORT = "id no nm cd dt of at ip cc db pw ts fk pk pg nr hr sv rg bp";

/** Words that are whole, though they could be read as several of the above. */
const WHOLE =
  "passage passport passion password textbook passbook dotage birthstone signage postage shipment username surname forename nickname website webmail payday paycheck timeline deadline online headline mailbox workday workplace homework homepage payment landline streetcar holiday sensor database metadata subtotal strip trip telnet salon newborn firstborn dobby geopolitical geophone bandage appendage lineage parentage personage handyman handywork";

/** Words of other languages that are English ones of another meaning: no part of a glued word. */
const ENGLISH_TOO = new Set("handy loon nomina parol raca targa stadt".split(" "));

/** Accents of Latin, Greek and Cyrillic letters, vowels of Arabic ones: what people leave out. */
const MARKS = /[\u0300-\u036f\u064b-\u065f\u0670]/g;

const costs = new Map<string, number>();
const add = (words: string) => {
  for (const word of words.split(" ")) {
    const length = [...word].length;
    costs.set(word, length >= 5 ? 1 : length === 4 ? 1.2 : length === 3 ? 1.8 : 2.6);
  }
};
for (const words of [DATA, QUALIFIERS, HEADS, AFFIXES, SHORT, WHOLE]) add(words);
/** Letters of scripts that are written without blanks, or whose words are short. */
export const DENSE = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}]/u;
for (const [, languages] of WORDS_OF_LANGUAGES)
  for (const words of Object.values(languages))
    for (const word of words.split(" "))
      if (!word.includes("_") && word.length > 3 && !DENSE.test(word) && !ENGLISH_TOO.has(word))
        add(wordsOf(word).map(folded).join(""));
for (const [said] of ABBREVIATIONS) for (const word of said.split(" ")) if (!word.includes("_") && word.length > 3) add(word);

/** Long words that no other word ends in: behind a name that nobody knows (`acmepassword`) they are read too. */
const ENDINGS =
  /^(.+?)(password|passwort|passphrase|passport|salary|creditcard|diagnosis|birthdate|dateofbirth|firstname|lastname|fullname|emailaddress|phonenumber|socialsecurity|fingerprint|bankaccount|privatekey|secretkey|accesstoken)$/;

const LONGEST = Math.max(...[...costs.keys()].map((word) => word.length));
/** Longer words are no names that people glued: not looked at, so that work is bounded. */
const MAX_LENGTH = 48;

/** Without accents. */
export function folded(text: string): string {
  return /[^ -~]/.test(text)
    ? text
        .normalize("NFKD")
        .replace(MARKS, "")
        .replace(/ß/g, "ss")
        .replace(/ı/g, "i")
        .replace(/ø/g, "o")
        .replace(/æ/g, "ae")
        .normalize("NFC")
    : text;
}

/**
 * The words that a glued word wholly consists of (`userpassword`, `custssn`), in the likeliest reading: the fewest and longest; letters that nobody knows may stand before a long one (`acmepassword`). `undefined` for other words, and for a word
 * that is one already.
 */
export function ungluedWord(word: string): readonly string[] | undefined {
  if (word.length < 5 || word.length > MAX_LENGTH || costs.has(word)) return undefined;
  const best: ({ readonly cost: number; readonly from: number } | undefined)[] = [{ cost: 0, from: 0 }];
  for (let end = 1; end <= word.length; end++) {
    for (let from = Math.max(0, end - LONGEST); from < end; from++) {
      const before = best[from];
      const own = before === undefined ? undefined : costs.get(word.slice(from, end));
      if (before === undefined || own === undefined) continue;
      const cost = before.cost + own;
      if (cost < (best[end]?.cost ?? Number.POSITIVE_INFINITY)) best[end] = { cost, from };
    }
  }
  const words: string[] = [];
  for (let end = word.length; end > 0; ) {
    const step = best[end];
    if (step === undefined) return behindUnknown(word);
    words.unshift(word.slice(step.from, end));
    end = step.from;
  }
  return words;
}

function behindUnknown(word: string): readonly string[] | undefined {
  const [, before = "", known = ""] = ENDINGS.exec(word) ?? [];
  return known === "" ? undefined : [before, ...(ungluedWord(known) ?? [known])];
}
