import type { Language } from "./template.ts";

/** Values of one language, by place. */
export interface Values {
  readonly first: readonly string[];
  readonly last: readonly string[];
  readonly city: readonly string[];
  readonly org: readonly string[];
  readonly illness: readonly string[];
  readonly drug: readonly string[];
  /** `#` is a digit. */
  readonly address: readonly string[];
  readonly salary: readonly string[];
  readonly dob: readonly string[];
}

export type ValuesOf = Readonly<Partial<Record<Language, Values>>>;

const words = (text: string): readonly string[] => text.split("|");

/** Values to make rules with. */
export const VALUES: ValuesOf = {
  en: {
    first: words("James|Mary|Robert|Patricia|Michael|Linda|Daniel|Karen|Priya|Wei|Fatima|Chidi|Olivia|Liam|Aisha|Siobhan"),
    last: words(
      "Smith|Johnson|Williams|Brown|Garcia|Miller|O'Connor|Patel|Nguyen|Okafor|Kowalski|Lee|Taylor|Anderson|Khan|Murphy",
    ),
    city: words("London|Chicago|Boston|Manchester|Sydney|Toronto|Dublin"),
    org: words("Acme Corp|Globex Ltd|Initech Inc.|University of Leeds|Hooli LLC"),
    illness: words("diabetes|asthma|breast cancer|depression|hypertension|arthritis|migraine|epilepsy|HIV|pneumonia"),
    drug: words("metformin|lisinopril|amoxicillin|sertraline|ibuprofen|atorvastatin"),
    address: words(
      "## Baker Street|### Maple Avenue|#### Oak Drive, Springfield|## High Street, Leeds LS1 4AP|### W. Elm St, Apt. #",
    ),
    salary: words("$##,000|£##,500|$1##,000|##k|EUR ##,000"),
    dob: words("0#/1#/198#|1# March 197#|198#-0#-1#|March 1#, 199#"),
  },
  de: {
    first: words("Thomas|Sabine|Jürgen|Anna|Stefan|Petra|Lukas|Ayşe|Katharina|Uwe"),
    last: words("Müller|Schmidt|Schneider|Fischer|Weber|Yılmaz|Hoffmann|Krüger|Schäfer|Nowak"),
    city: words("Berlin|Hamburg|München|Köln|Wien|Zürich"),
    org: words("Muster GmbH|Beispiel AG|Stadtwerke Köln GmbH"),
    illness: words("Diabetes|Asthma|Brustkrebs|eine Depression|Bluthochdruck|Migräne"),
    drug: words("Metformin|Ramipril|Ibuprofen|Sertralin"),
    address: words("Hauptstraße ##|Gartenweg #, 50667 Köln|Lindenallee ##|Bahnhofstr. #"),
    salary: words("##.000 Euro|#.#00 €|##.500 EUR"),
    dob: words("1#.0#.198#|1#. März 197#"),
  },
  fr: {
    first: words("Jean|Marie|Pierre|Camille|Nicolas|Sophie|Mohamed|Élodie|Chloé|Hélène"),
    last: words("Martin|Bernard|Dubois|Moreau|Lefèvre|Girard|Benali|Roux|Fontaine|Chevalier"),
    city: words("Paris|Lyon|Marseille|Lille|Genève"),
    org: words("Exemple SARL|Société Dupuis SA"),
    illness: words("du diabète|de l'asthme|un cancer du sein|une dépression|de l'hypertension"),
    drug: words("metformine|ramipril|ibuprofène|sertraline"),
    address: words("## rue de la Paix, 75002 Paris|## avenue Victor Hugo|# place du Marché"),
    salary: words("## 000 euros|##.000 €|# #00 €"),
    dob: words("1#/0#/198#|1# mars 197#"),
  },
  es: {
    first: words("María|José|Carmen|Antonio|Lucía|Javier|Alejandra|Íñigo|Rosario|Pablo"),
    last: words("García|Fernández|González|Rodríguez|López|Sánchez|Muñoz|Ortega|Castillo|Vargas"),
    city: words("Madrid|Barcelona|Sevilla|Bogotá|Buenos Aires"),
    org: words("Ejemplo S.L.|Comercial Ibérica S.A."),
    illness: words("diabetes|asma|cáncer de mama|depresión|hipertensión"),
    drug: words("metformina|ramipril|ibuprofeno|sertralina"),
    address: words("calle Mayor ##|avenida de América ##, 28028 Madrid|plaza Nueva #"),
    salary: words("##.000 euros|#.#00 €"),
    dob: words("1#/0#/198#|1# de marzo de 197#"),
  },
  it: {
    first: words("Giuseppe|Maria|Francesca|Luca|Giulia|Alessandro|Chiara|Niccolò"),
    last: words("Rossi|Russo|Ferrari|Esposito|Bianchi|Romano|Colombo|D'Angelo"),
    city: words("Roma|Milano|Napoli|Torino"),
    org: words("Esempio S.r.l.|Banca Popolare S.p.A."),
    illness: words("diabete|asma|cancro al seno|depressione|ipertensione"),
    drug: words("metformina|ramipril|ibuprofene|sertralina"),
    address: words("via Roma ##|piazza Garibaldi #, 20121 Milano|viale Europa ##"),
    salary: words("##.000 euro|#.#00 €"),
    dob: words("1#/0#/198#|1# marzo 197#"),
  },
  pt: {
    first: words("João|Maria|Ana|Pedro|Inês|Tiago|Beatriz|Luiz"),
    last: words("Silva|Santos|Ferreira|Pereira|Oliveira|Costa|Rodrigues|Gonçalves"),
    city: words("Lisboa|Porto|São Paulo|Brasília"),
    org: words("Exemplo Lda.|Banco Atlântico S.A."),
    illness: words("diabetes|asma|cancro da mama|depressão|hipertensão"),
    drug: words("metformina|ramipril|ibuprofeno|sertralina"),
    address: words("rua Augusta ##|avenida da Liberdade ##|travessa do Carmo #"),
    salary: words("##.000 euros|R$ ##.000"),
    dob: words("1#/0#/198#|1# de março de 197#"),
  },
  nl: {
    first: words("Jan|Anna|Pieter|Sanne|Daan|Lotte|Willem|Femke"),
    last: words("de Jong|Jansen|de Vries|van den Berg|Bakker|Visser|Smit|Meijer"),
    city: words("Amsterdam|Rotterdam|Utrecht|Gent"),
    org: words("Voorbeeld B.V.|Handelsbank N.V."),
    illness: words("diabetes|astma|borstkanker|een depressie|hoge bloeddruk"),
    drug: words("metformine|ramipril|ibuprofen|sertraline"),
    address: words("Dorpsstraat ##|Keizersgracht ###|Laan van Meerdervoort ##"),
    salary: words("##.000 euro|€ #.#00"),
    dob: words("1#-0#-198#|1# maart 197#"),
  },
};
