import { checkArgument } from "@seneschal/kernel";
import { isOnlyAbout } from "./names/heads.ts";
import { inLexiconEnglish } from "./names/read-name.ts";
import { wordsOf } from "./names/words-of.ts";

/** What a name (of a column, a key, or in a request) says about the data behind it. */
export interface LexiconTerm {
  readonly entity: string;
  /** Shown in reasons and told apart in column results. */
  readonly term: string;
  /** Over the words of the name, singular, in lower case, joined by blanks. */
  readonly match: RegExp;
  /** Names that match but mean something else. */
  readonly unless?: RegExp;
  /** What values of such a column look like, if that can be told. */
  readonly value?: RegExp;
  /** Values of which each says that something else is meant, unless persons are. */
  readonly otherwise?: RegExp;
  /** Where there is a value it says for itself whether it is one. */
  readonly byValue?: boolean;
  /** Few different values: a category. */
  readonly category?: boolean;
  /** The word means much else too: it counts only where the rest of the name, the table, or columns beside it say that persons are meant. */
  readonly personal?: boolean;
  /** So usual a word that it says nothing where nothing says that persons are meant. */
  readonly usual?: boolean;
  /** What says so, over the words of name and table, instead of any word for people. */
  readonly signs?: RegExp;
  /** Entities of columns beside it that say so, instead of those that describe a person. */
  readonly beside?: readonly string[];
}

/** Words that say that a patient is meant. */
const CLINICAL =
  /\b(?:patient|medical|clinical|hospital|ehr|emr|health|diagnosis|clinic|nurse|physician|disease|ward|prescription|medication|inpatient|outpatient|condition occurrence|drug exposure|procedure occurrence)\b/;
const name = /^[\p{L}][\p{L}'’.-]*(?: [\p{L}][\p{L}'’.-]*){0,4}$/u;

/** Built-in terms, most specific first: the first that matches names the column. */
export const LEXICON: readonly LexiconTerm[] = [
  {
    entity: "PASSWORD",
    term: "password",
    match: /\b(?:password|passwd|pwd|passphrase|secret question|security (?:answer|question answer))\b/,
  },
  {
    entity: "API_KEY",
    term: "api key",
    match:
      /\b(?:(?:api|access|secret|private|signing|encryption|master|service|account|deploy|license|ssh|hmac) key|apikey|(?:auth|access|refresh|session|oauth2?|api|bearer|csrf|id|jwt|device|push|reset|verification|activation|confirmation|invite|login|security|sas|bot|personal access|user|service) token|authtoken|(?:otp|totp|mfa|2fa|hotp) (?:secret|seed|key)|(?:recovery|backup|otp|mfa|verification|2fa|activation) code|reset (?:url|link|code|key)|(?:seed|recovery|mnemonic|backup|wallet) phrase|mnemonic|wallet seed|(?:activation|consumer|authentication|authorization) key|magic link|private pem)\b/,
  },
  {
    entity: "API_KEY",
    term: "token",
    match:
      /\b(?!(?:prompt|completion|input|output|max|min|total|stop|special|eos|bos|pad|mask|design|syntax|word|sub|lexer|next|previous|current|last|first|remaining|cached|used|erc|nft|crypto|of|the|all|an?|per|by|into|this|that|these|those|and|or|each|every|no|n|number|num|count|more|new|many|what|which|is|in|to|for) )[\p{L}\d]+ token\b/u,
    byValue: true,
  },
  {
    entity: "API_KEY",
    term: "secret",
    match: /\b(?:secret|credential)\b/,
    unless: /\b(?:secret|credential) (?:name|id|arn|path|ref|reference|manager|store|santa)$|\btop secret\b/,
    byValue: true,
  },
  {
    entity: "PASSWORD",
    term: "pin",
    match: /\bpin\b/,
    unless: /\bpin (?:code|number)$/,
    personal: true,
    signs:
      /\b(?:card|atm|user|customer|account|login|sim|wallet|member|employee|debit|credit|door|alarm|parental|voicemail|security|bank|hash)\b/,
    beside: ["CREDIT_CARD", "PASSWORD", "BANK_ACCOUNT"],
  },
  {
    entity: "PASSWORD",
    term: "pass",
    usual: true,
    match: /\bpass$/,
    personal: true,
    signs: /\b(?:user|db|database|login|admin|root|account|smtp|ftp|mail|auth|wifi|vpn|proxy|service)\b/,
    beside: ["USERNAME", "PASSWORD"],
  },
  {
    entity: "PASSWORD",
    term: "salt",
    usual: true,
    match: /^salt$/,
    personal: true,
    signs: /\b(?:user|account|login|auth|credential|member)\b/,
    beside: ["USERNAME", "PASSWORD"],
  },
  {
    entity: "API_KEY",
    term: "token",
    usual: true,
    match: /\btoken\b/,
    personal: true,
    signs:
      /\b(?:user|auth|session|account|client|device|login|integration|bot|github|slack|webhook|customer|member|credential|oauth|personal)\b/,
    beside: ["USERNAME", "PASSWORD", "API_KEY"],
  },
  {
    entity: "CREDIT_CARD",
    term: "card verification code",
    match: /\b(?:cvv2?|cvc2?|cc cvc|card security code|card verification)\b/,
  },
  {
    entity: "BANK_CARD_EXPIRY",
    term: "card expiry",
    // Not `.*`: from each of many cards it would look to the end of the text. No database has names of more than 128 characters.
    match: /\b(?:cc|card|credit card)\b.{0,128}\b(?:exp|expiry|expiration|expire|expiredate|exp date)\b/,
  },
  {
    entity: "CREDIT_CARD",
    term: "card number",
    match:
      /\b(?:credit card|debit card|credit debit card|card number|card num|card no|card last|last 4 card|cc num|cc number|cc no|ccn|ccnum|cardnum|cardnumber|payment card|bank card|(?:card|cc) pan|pan (?:number|no|hash|last|encrypted|masked)|primary account number|creditcard)\b|^(?:cc|card|credit card)$/,
    unless: /\b(?:health|insurance|id|identity|member|membership|loyalty|library|report|score|sim) card\b/,
    value: /^[\d -]{12,25}$/,
  },
  {
    entity: "US_SSN",
    term: "social security number",
    match: /\b(?:ssn|social security|social sec(?:urity)? num(?:ber)?|social sec|soc sec|ssno)\b/,
    value: /^\d{3}[- ]?\d{2}[- ]?\d{4}$/,
  },
  { entity: "US_ITIN", term: "taxpayer id", match: /\b(?:itin|taxpayer id)\b/ },
  {
    entity: "TAX_ID",
    term: "tax id",
    match:
      /\b(?:tax id|tax number|tin|vat id|vat number|fiscal code|steuer id|tfn|tax file number|tax identification|taxpayer)\b/,
  },
  {
    entity: "NATIONAL_ID",
    term: "national id",
    match:
      /\b(?:national id|national identity|identity card|id card|nino|national insurance|social insurance|aadhaar|aadhar|pesel|personnummer|nric|citizen id|government id|voter id|id number|identity number|identity document|identification (?:number|id|no)|id document|nin)\b/,
  },
  {
    entity: "PASSPORT_NUMBER",
    term: "passport",
    match: /\b(?:passport|visa number|residence permit (?:number|no)|green card (?:number|no)|alien (?:registration )?number)\b/,
  },
  {
    entity: "DRIVER_LICENSE",
    term: "driving licence",
    match: /\b(?:driver|driving|drivers) (?:s )?(?:license|licence|lic)\b|\bdriver license\b|\b(?:dl number|dl num|dl no)\b/,
  },
  { entity: "IBAN_CODE", term: "iban", match: /\b(?:iban)\b/, value: /^[A-Z]{2}\d{2}[A-Z0-9 ]{8,38}$/i },
  {
    entity: "BANK_ACCOUNT",
    term: "bank account",
    match:
      /\b(?:bank account|account number|account num|account no|acct num|acct no|acct number|bank acct|routing number|routing no|sort code|bban|iban account|checking account|savings account)\b/,
  },
  {
    entity: "SALARY",
    term: "pay",
    match:
      /\b(?:salary|wage|compensation|income|payroll|bonus|remuneration|inhand salary|net worth|(?:net|gross|base|take home|hourly|annual|monthly|basic|daily|weekly|overtime|severance|sick|retro) pay|pay (?:rate|grade|amount|scale|slip|stub)|payslip|hourly rate|earnings?|stock option|commission earned|ctc)\b/,
    unless:
      /\bper capita\b|\b(?:net|gross|total|other|operating|interest) income (?:statement|tax|account)\b|\bincome (?:statement|account)\b/,
  },
  { entity: "CREDIT_SCORE", term: "credit score", match: /\b(?:credit|fico|schufa|vantage) (?:score|rating)\b/ },
  {
    entity: "PATIENT_ID",
    term: "patient id",
    match:
      /\b(?:patient id|patient number|patient num|mrn|medical record|mbr id|health card|nhs number|nhs no|medicare (?:number|no|id)|medicaid (?:number|no|id)|beneficiary id|subscriber id|insurance (?:number|member id)|health insurance|(?:insurance|health plan) member|health (?:insurance|plan) (?:number|no|id))\b/,
  },
  {
    entity: "HEALTH_DATA",
    term: "health",
    match:
      /\b(?:diagnosis|diagnose|diagnostic code|icd|icd9|icd10|medication|prescription|prescribed|rx (?:name|number|drug|code|norm)|drug name|drug (?:code|dose|exposure)|allergy|allergen|symptom|disease|illness|(?:therapist|psychiatrist|psychologist|doctor|physician) (?:note|report|letter)|medical (?:history|file|dossier|chart|condition|note|record|data|status|leave|info|information|exam|problem)|health (?:record|issue|problem|history)|blood (?:type|group|pressure|sugar|glucose|test)|lab (?:result|value|test)|disability|disabled person|handicapped|pregnant|pregnancy|hiv|aids status|cancer|tumou?r|diabetes?|diabetic|mental health|therapy|psychiatric|psychotherapy|vaccination|vaccine|vaccinated|immunization|immunisation|patient note|clinical (?:note|finding|status|impression|history)|chief complaint|complaint text|bmi|body mass index|hba1c|glucose|cholesterol|insulin|dialysis|surgery|surgical|smok(?:er|ing)|alcohol (?:use|consumption|abuse)|substance abuse|drug (?:use|abuse)|addiction|depression|anxiety|dementia|asthma|covid|hba 1 c|std status|sti status|abortion|miscarriage|menstrual|menstruation|fertility|contraception|gravida|sick (?:leave|note|day)|cause of death|comorbidity|care plan|discharge summary|anamnesis|pathology|tobacco)\b/,
    unless: /\b(?:health|safety) check\b|\bcancer(?:led|lation)\b|\bglucose meter model\b/,
  },
  {
    entity: "HEALTH_DATA",
    term: "health",
    match: /\bhealth (?:status|condition|score|info|information|data)\b/,
    // Of a service: RFC draft-inadarei-api-health-check, Spring, Consul, Elasticsearch, Kubernetes, Docker.
    otherwise:
      /^(?:ok|up|down|out of service|healthy|unhealthy|degraded|green|yellow|red|pass|passing|passed|fail|failing|failed|warn|warning|critical|starting|started|running|stopped|ready|not ready|alive|dead|online|offline|available|unavailable|progressing|unknown|none|true|false|\d{1,6}(?:\.\d+)?(?: ?(?:%|ms|s))?)$/i,
    beside: ["PERSON", "DATE_OF_BIRTH", "AGE", "GENDER", "US_SSN", "NATIONAL_ID", "PATIENT_ID"],
  },
  {
    entity: "HEALTH_DATA",
    term: "health",
    match: /\b(?:treatment|condition)\b/,
    unless:
      /\b(?:terms?|weather|payment|trading|sales|price|pricing|where|if|join|air|road|ab|a b|group|control|arm|water|tax|heat|surface|delivery|operating) (?:and )?(?:treatment|condition)\b|\b(?:treatment|condition) (?:group|arm|effect|variant|cell|plant|item)\b/,
    personal: true,
    signs: CLINICAL,
    beside: ["HEALTH_DATA", "PATIENT_ID"],
  },
  {
    entity: "HEALTH_DATA",
    term: "health",
    match:
      /\b(?:procedure|finding|encounter|admission|complaint|test result|dose|dosage|drug|weight|height|observation|problem|lesion|referral|note|vital)\b/,
    personal: true,
    usual: true,
    signs: CLINICAL,
    beside: ["HEALTH_DATA", "PATIENT_ID"],
  },
  {
    entity: "BIOMETRIC_DATA",
    term: "biometrics",
    match:
      /\b(?:biometric|fingerprint|iris (?:scan|code|template)|retina(?:l scan)?|face (?:template|print|embedding|encoding|descriptor|vector|id)|facial (?:template|embedding|feature|recognition|geometry|scan)|faceprint|voiceprint|voice (?:print|sample|embedding)|hand geometry|palm (?:print|vein)|gait|keystroke dynamic)\b/,
    unless:
      /\b(?:sha\d*|md5|key|cert|certificate|file|content|device|browser|canvas|ssh|request|event|error|query|public|tls|ja3) fingerprint\b|\bfingerprint (?:sha\d*|md5|algorithm)\b|\bretina display\b/,
  },
  {
    entity: "GENETIC_DATA",
    term: "genetics",
    match:
      /\b(?:genetic|genome|genomic|dna (?:sequence|sample|profile|test|data|marker|hash)|dna|genotype|haplotype|allele|snp)\b/,
    unless: /\bdna (?:stub|version|company)\b|\bgenetic algorithm\b/,
  },
  {
    entity: "RELIGION",
    term: "religion",
    match: /\b(?:religion|religious|religious belief|faith|church (?:member|tax)|caste)\b/,
  },
  {
    entity: "RELIGION",
    term: "religion",
    match: /\b(?:denomination|belief|creed|church|parish|sect)\b/,
    personal: true,
  },
  {
    entity: "SEXUAL_ORIENTATION",
    term: "sexual orientation",
    match: /\b(?:sexual (?:orientation|preference|identity|orient|history)|sexuality|sex life|lgbtq?|gender identity)\b/,
  },
  {
    entity: "SEXUAL_ORIENTATION",
    term: "sexual orientation",
    match: /\borientation\b/,
    unless: /\b(?:page|screen|device|print|image|photo|paper|label|object|layout|video|map|display|session|goal)\b/,
    personal: true,
  },
  {
    entity: "UNION_MEMBERSHIP",
    term: "union membership",
    match:
      /\b(?:union (?:member|membership|affiliation|due|representative|rep|dues)|trade union|labor union|labour union|unioni[sz]ed)\b/,
  },
  {
    entity: "UNION_MEMBERSHIP",
    term: "union membership",
    match: /\bunion\b/,
    unless: /\b(?:credit|european|western|bank|union all|customs) union\b|\bunion (?:all|type)\b/,
    personal: true,
    signs: /\b(?:employee|worker|staff|payroll|hr|labor|labour|personnel|member)\b/,
    beside: ["SALARY", "US_SSN", "DATE_OF_BIRTH"],
  },
  {
    entity: "POLITICAL_OPINION",
    term: "politics",
    match:
      /\b(?:political|political party|party (?:affiliation|membership|registration)|political opinion|vote for|voted for|voting (?:intention|preference))\b/,
  },
  {
    entity: "POLITICAL_OPINION",
    term: "politics",
    match: /\bparty\b/,
    unless: /\b(?:third|counter|related|first) party\b|\bparty (?:size|room|id|role|type|name)\b/,
    personal: true,
    signs: /\b(?:voter|elector|ballot|citizen|election|constituent|donor)\b/,
  },
  {
    entity: "CRIMINAL_RECORD",
    term: "criminal record",
    match:
      /\b(?:criminal|conviction|convicted|felony|felon|misdemeano(?:u)?r|arrest|arrested|prison|incarceration|incarcerated|parole|probation officer|offender|sex offence|sex offense|background check result)\b/,
  },
  {
    entity: "ETHNICITY",
    term: "ethnicity",
    match: /\b(?:ethnicity|ethnic|racial|(?:race|ethnicity) (?:ethnicity|race)|race and ethnicity|tribe|indigenous|aboriginal)\b/,
  },
  {
    entity: "ETHNICITY",
    term: "ethnicity",
    match: /\brace\b/,
    unless: /\brace (?:time|condition|result|id|track|distance|name|number|car|course|day|lap|start|category)\b/,
    personal: true,
  },
  {
    entity: "EMAIL_ADDRESS",
    term: "email",
    match:
      /\b(?:email|e mail|email address|mail address|emailaddr)\b|(?:^|\b(?:contact|user|customer|work|home|primary|private|business|employee|office|personal|other) )mail$/,
    unless: /\blast email$/,
    value: /^[^\s@]{1,64}@[^\s@]{1,255}$/,
  },
  {
    entity: "PHONE_NUMBER",
    term: "phone",
    match:
      /\b(?:phone|telephone|mobile|cell|cellphone|fax|phone number|tel|msisdn|mobile number|contact number|phonenumber|whatsapp|pager)\b/,
    unless:
      /\b(?:model|brand|plan|price|app|os|device|hotel|tower|sdk|browser|web|desktop)\b|\bcell (?:type|line|value|id|phone plan|style|color|format)\b|\b(?:phone|mobile) (?:id|code id)$|^(?:fuel|solar|battery|stem|table|grid|excel) cell\b/,
    value: /^[+(]?[\d][\d ()./+x-]{5,24}$/i,
  },
  {
    entity: "MAC_ADDRESS",
    term: "mac address",
    match: /\b(?:mac address|mac addr|macaddr|macaddress)\b/,
    value: /^(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i,
  },
  {
    entity: "IP_ADDRESS",
    term: "ip address",
    match: /\b(?:ip|ip address|ip addr|ipaddr|ipv4|ipv6|ipaddress|client ip|remote addr|source ip|dest ip)\b/,
    unless: /\bip (?:license|core|rating|owner|right)\b/,
    value: /^(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f:]{2,39}(?:\.\d{1,3}){0,3})(?:\/\d{1,3})?$/i,
  },
  {
    entity: "VEHICLE_ID",
    term: "vin",
    match: /\b(?:vin|vehicle identification|vehicle id number|chassis number)\b/,
    value: /^[A-HJ-NPR-Z0-9]{11,17}$/i,
  },
  {
    entity: "VEHICLE_REGISTRATION",
    term: "vehicle plate",
    match:
      /\b(?:license plate|licence plate|number plate|plate number|plate no|plate num|registration plate|vehicle registration|vehicle plate)\b/,
  },
  {
    entity: "DATE_OF_BIRTH",
    term: "date of birth",
    match:
      /\b(?:dob|birthdate|birth date|date of birth|birthday|birth dt|birth day|birth time|dateofbirth|born on|date born|born)\b/,
    unless: /\bplace\b/,
  },
  {
    entity: "BIRTH_YEAR",
    term: "part of a birth date",
    match:
      /\b(?:birth year|birth month|year of birth|yob|birth (?:place|city|country)|(?:place|city|country) of birth|birthplace|month of birth|day of birth)\b/,
  },
  {
    entity: "STREET_ADDRESS",
    term: "street address",
    match:
      /\b(?:(?:street|home|mail(?:ing)?|postal|bill(?:ing)?|ship(?:ping)?|residential|residence|residence home|delivery|permanent|current|private|personal|contact|customer|employee|patient|client|user|person|member|office|work|business|primary|legal|register(?:ed)?|present|temporary|physical|correspondence|living|student|owner) address|street addr|address line 1|address line|addr line|address 1|home addr|address street|street 1|street line|street and number|street house|(?:home|private|permanent|present) street|mailing street|billing street|shipping street|other street)\b|^(?:address|addr|full address|street|complete address)$/,
    unless:
      /\b(?:second|secondary|alternate|2|3|id|ip|mac|email|web|wallet|key|memory|contract|eth|btc|city|country|zip|postal code|region|county|node|server|book)\b/,
    value: /^(?=.*\d)(?=.*\p{L}).{6,}$/u,
  },
  {
    entity: "STREET_ADDRESS",
    term: "part of an address",
    match:
      /\b(?:(?:second|secondary|alternate) address|address [23]|address line [23]|street [23]|apartment|street name|street number|house number|(?:home|billing|shipping|mailing|customer) address)\b/,
    unless: /\b(?:id|ip|mac|email|web|wallet|key|city|country|zip|region|county)\b/,
  },
  {
    entity: "GEO_LOCATION",
    term: "position",
    match:
      /\b(?:latitude|longitude|lat lon|lat long|lat lng|geo location|geolocation|gps|home location|coordinate|last known location|geo point|geopoint)\b|^(?:lat|lng|lon|long)$/,
  },
  {
    entity: "PERSON",
    term: "full name",
    match:
      /\b(?:full name|fullname|customer name|patient name|employee name|person name|member name|client name|contact name|cardholder name|spouse name|mother name|father name|child name|guardian name|next of kin name|cardholder|account holder|legal name|display name|real name|student name|applicant name|passenger name|guest name|(?:user|holder|account holder|applicant|beneficiary|borrower|candidate|driver|doctor|physician|teacher|worker|staff|tenant|buyer|seller|owner|emergency contact|parent|partner|husband|wife|reporter|recipient|sender|assignee|manager|supervisor|insured|subscriber|tenant|voter|citizen|donor|visitor|resident|caregiver|attorney) full name|(?:holder|applicant|beneficiary|borrower|candidate|physician|teacher|worker|staff|buyer|emergency contact|parent|partner|husband|wife|supervisor|insured|subscriber|voter|citizen|donor|visitor|resident|caregiver|preferred|married|driver|doctor|nurse|nominee|assistant|tenant|rider|payer|payee|lessee|mentor|adviser|advisor|pax|patron|complete|spouse complete) name|emergency contact|name on card|name of (?:patient|employee|customer|insured))\b|^(?:person)$/,
    unless: /\b(?:id|table|file|schema)$|\bstaff name server\b/,
    value: name,
  },
  {
    entity: "PERSON",
    term: "part of a name",
    match:
      /\b(?:first name|last name|name (?:first|last|middle|family|given)|middle name|middle initial|maiden name|mother maiden|surname|sur name|given name|family name|firstname|lastname|fname|lname|forename|nickname|nick name|fore name|host name of person)\b/,
    unless: /\bthe given name|\bfile\b/,
  },
  {
    entity: "PERSON",
    term: "part of a name",
    // Of FHIR's HumanName.
    match: /^(?:family|given)$/,
    personal: true,
    usual: true,
    signs: /\bname\b/,
    beside: [],
  },
  {
    entity: "PERSON",
    term: "part of a name",
    // Of directories: RFC 4519.
    match: /^(?:sn|cn)$/,
    personal: true,
    usual: true,
    signs: /\b(?:inet|person|people|user|ldap|posix account)\b/,
    beside: ["PERSON", "USERNAME", "PASSWORD"],
  },
  { entity: "PERSON", term: "name", match: /^name$/, personal: true, usual: true, value: name },
  {
    entity: "USERNAME",
    term: "user name",
    match:
      /\b(?:username|user name|login|user login|screen name|(?:twitter|instagram|social|user|screen|telegram|github) (?:handle|name|username))\b/,
    unless: /^(?:last|first|previous|social) login$|\blogin (?:ip|device|session|button|id type)\b/,
  },
  {
    entity: "GENDER",
    term: "gender",
    match: /\b(?:gender|sex)\b/,
    unless: /\bsex (?:offence|offense|link)\b/,
    value: /^[\p{L}][\p{L} -]{0,20}$/u,
    category: true,
  },
  {
    entity: "AGE",
    term: "age",
    match: /\bage\b/,
    unless:
      /\b(?:history age|account age|page|day|days|months|vehicle age|building age|house age|credit history|file age|cache|password|pwd|cookie|session|account|inventory|stock|car|vehicle|property|message|snapshot|backup|index|key|token|record|ticket|debt|invoice|max age)\b/,
    value: /^\d{1,3}(?:\.\d+)?_?(?:\s*(?:years?|yrs?|to|-|and|\+)\s*(?:\d{1,3}|older|over|old|under|younger)?)?$/i,
  },
  { entity: "MARITAL_STATUS", term: "marital status", match: /\b(?:marital|marital status)\b/ },
  { entity: "NATIONALITY", term: "nationality", match: /\b(?:nationality|citizenship)\b/ },
  {
    entity: "ZIP_CODE",
    term: "postal code",
    match: /\b(?:zip|zipcode|zip code|postal code|postcode|plz|post code)\b/,
    unless: /\bfile\b|\bincome\b|\bzip (?:archive|size|path|url)\b/,
  },
  { entity: "CITY", term: "city", match: /\b(?:city|town|hometown)\b/ },
  { entity: "JOB_TITLE", term: "occupation", match: /\b(?:job title|occupation|profession)\b/ },
  { entity: "CRYPTO", term: "wallet", match: /\b(?:wallet address|btc address|bitcoin address|crypto wallet|eth address)\b/ },
];

/** Words that say that a table or data set is about people. */
const PEOPLE = new Set(
  "person personal people personnel demographic customer client patient employee user member student subscriber applicant candidate passenger guest contact citizen voter staff worker teacher doctor household profile lead visitor donor resident driver beneficiary cardholder borrower tenant payee insured claimant hr crm".split(
    " ",
  ),
);

/** Things of a business: asking about them is internal, not public. */
const BUSINESS = new Set(
  "order sale revenue invoice account product contract project budget payment transaction shipment supplier vendor inventory signup subscription campaign ticket claim policy loan deal forecast report pipeline margin profit cost expense payroll warehouse table record dataset database row metric kpi".split(
    " ",
  ),
);

/** What a name says in the lexicon's English: the words of {@link wordsOf}, glued ones apart, abbreviations and other languages translated. */
function saidBy(name: string): string {
  const latin = /[^ -~]/.test(name)
    ? name
        .normalize("NFKC")
        .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
        .replace(BETWEEN_SCRIPTS, "$1 ")
    : name;
  return inLexiconEnglish(wordsOf(latin));
}
/** `IP地址`: a letter of one script behind one of another. */
const BETWEEN_SCRIPTS =
  /([A-Za-z0-9](?=[\p{scx=Han}\p{scx=Hang}\p{scx=Kana}])|[\p{scx=Han}\p{scx=Hang}\p{scx=Kana}](?=[A-Za-z]))/gu;

/** Matches where any term does. */
const ANY_TERM = new RegExp(LEXICON.map(({ match }) => match.source).join("|"));

/** The terms to look for in a text: none where none can match, which is so for most texts and takes one look. */
export function possibleTerms(text: string): readonly LexiconTerm[] {
  return ANY_TERM.test(text) ? LEXICON : [];
}

/** Where a name stands: the table or data set that it belongs to, and the names beside it. Read at the first question, and once, however many names stand there. */
export class Surroundings {
  #about: string;
  #beside: readonly string[];
  #words: string | undefined;
  #entities: ReadonlySet<string> | undefined;

  constructor(about = "", beside: readonly string[] = []) {
    checkArgument("about", about, "string");
    checkArgument("beside", beside, "array");
    this.#about = about;
    this.#beside = beside;
  }

  /** The words of the table, in the lexicon's English. */
  get words(): string {
    this.#words ??= saidBy(this.#about);
    return this.#words;
  }

  /** What the names beside it surely mean. */
  get entities(): ReadonlySet<string> {
    this.#entities ??= new Set(this.#beside.flatMap((name) => meaningOf(name, NOWHERE).term?.entity ?? []));
    return this.#entities;
  }
}

const NOWHERE = new Surroundings();

/** The words of a name, and the terms that stand in them. */
interface ReadName {
  readonly words: string;
  readonly terms: readonly LexiconTerm[];
}

/** Names that were read lately: a text says the same ones many times, and so do the texts of one system. */
let lately = new Map<string, ReadName>();
const MOST_NAMES = 2048;
const LONGEST_NAME = 64;

function readName(name: string): ReadName {
  const known = lately.get(name);
  if (known !== undefined) return known;
  const words = saidBy(name);
  const read = { words, terms: possibleTerms(words).filter((term) => names(term, words)) };
  if (name.length > LONGEST_NAME) return read;
  if (lately.size >= MOST_NAMES) lately = new Map();
  lately.set(name, read);
  return read;
}

/** What a name means. */
export interface NameMeaning {
  readonly term?: LexiconTerm;
  /** Where nothing says that persons are meant: what it may mean. */
  readonly possible?: LexiconTerm;
}

/**
 * What a column or key name means. `around` is the table that it belongs to, or that with the names beside it: words that mean much else too (`race`, `treatment`, `pin`) count only where one of these, or another
 * word of the name, says that persons are meant.
 */
export function meaningOf(columnName: string, around: string | Surroundings = ""): NameMeaning {
  const { words, terms } = readName(columnName);
  let possible: LexiconTerm | undefined;
  for (const term of terms) {
    if (term.personal !== true || isMeant(term, words, around)) return { term };
    if (term.usual !== true) possible ??= term;
  }
  return possible === undefined ? {} : { possible };
}

/** The term that a column or key name surely means, if any. `around`: the table that it belongs to, or that with the names beside it. */
export function termOf(columnName: string, around: string | Surroundings = ""): LexiconTerm | undefined {
  checkArgument("columnName", columnName, "string");
  return meaningOf(columnName, around).term;
}

/** True where the term stands in the words of a name, and the name is not only about what it stands for there. */
function names({ entity, match, unless }: LexiconTerm, words: string): boolean {
  const first = match.exec(words);
  if (first === null || (unless?.test(words) ?? false)) return false;
  // `passport_expiry_passport_no`: it may stand again, and is then what the name is of.
  for (let found: RegExpExecArray | null = first, from = 0; found !== null; found = match.exec(words.slice(from))) {
    const before = split(words.slice(0, from + found.index));
    from += found.index + found[0].length;
    const after = split(words.slice(from));
    // A description: what it says at its end is of something else.
    const isSentence = before.length + after.length > 6;
    if (!(isSentence ? isOnlyAbout(entity, [], after.slice(0, 1)) : isOnlyAbout(entity, before, after))) return true;
  }
  return false;
}

function split(words: string): readonly string[] {
  return words.split(" ").filter((word) => word !== "");
}

/** Truths, as databases write them (PostgreSQL, `boolin`). */
const TRUTH = /^(?:true|false|yes|no|on|off|[tfyn01])$/i;

/** Whether all values of a column say that its name means something else than the term: nothing around it may be about persons. */
export function isOtherwise(
  term: LexiconTerm,
  columnName: string,
  around: string | Surroundings,
  values: readonly string[],
): boolean {
  const { otherwise } = term;
  // A truth is no secret, whosever it is: the column says whether there is one.
  const flags = (term.entity === "PASSWORD" || term.entity === "API_KEY") && values.length > 0;
  if (flags && values.every((value) => TRUTH.test(value))) return true;
  return (
    otherwise !== undefined &&
    values.length > 0 &&
    values.every((value) => otherwise.test(value.replaceAll("_", " "))) &&
    !isMeant(term, saidBy(columnName), around)
  );
}

/** True where other words of a name or sentence, or what is around it, say that a word of several meanings is meant of a person. */
export function isMeant(
  { signs, beside = OF_A_PERSON }: LexiconTerm,
  words: string,
  around: string | Surroundings = "",
): boolean {
  const tells = signs === undefined ? namesPeople : (text: string) => signs.test(text);
  if (tells(words)) return true;
  const { words: about, entities } = typeof around === "string" ? new Surroundings(around) : around;
  return tells(about) || beside.some((entity) => entities.has(entity));
}

/** What describes a person and nothing else. */
const OF_A_PERSON: readonly string[] =
  "DATE_OF_BIRTH BIRTH_YEAR AGE GENDER MARITAL_STATUS US_SSN NATIONAL_ID PASSPORT_NUMBER DRIVER_LICENSE SALARY PERSON HEALTH_DATA RELIGION ETHNICITY SEXUAL_ORIENTATION NATIONALITY".split(
    " ",
  );

/** True for names such as `crm.customers` or `PatientVisits`. */
export function isAboutPeople(text: string): boolean {
  return namesPeople(saidBy(text));
}

/** True for words of the lexicon's English of which one is for people. */
export function namesPeople(words: string): boolean {
  return words.split(" ").some((word) => PEOPLE.has(word));
}

/** True when the words name something of a business or its people. */
export function namesBusiness(words: readonly string[]): boolean {
  return words.some((word) => BUSINESS.has(word) || PEOPLE.has(word));
}

/** True for names such as `patients`: what is in them is health data. */
export function isAboutHealth(text: string): boolean {
  return /\b(?:patient|diagnosis|prescription|medication|clinical|hospital|ehr|emr|medical)\b/.test(saidBy(text));
}
