import type { Recogniser } from "../search/recogniser.ts";

const month =
  "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";

/** Months of German, French, Spanish, Italian, Portuguese and Dutch, where they are not spelled as in English. */
const foreignMonth =
  "(?:januar|jänner|februar|märz|mai|juni|juli|oktober|dezember|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|setiembre|octubre|noviembre|diciembre|gennaio|febbraio|aprile|maggio|giugno|luglio|settembre|ottobre|dicembre|janeiro|fevereiro|março|maio|junho|julho|setembro|outubro|novembro|dezembro|januari|februari|maart|mei|augustus|december)";

/** Words beside which a date is somebody's date of birth. */
export const BIRTH_WORDS: readonly string[] = [
  "birthday",
  "birthdate",
  "date of birth",
  "born",
  "dob",
  "geboren",
  "geburt",
  "geb.",
  "née",
  "né le",
  "naissance",
  "nacid",
  "nacimiento",
  "nato il",
  "nata il",
  "nascita",
  "nascid",
  "nascimento",
  "nasceu",
  "naceu",
  "nació",
  "nacio",
  "né à",
  "urodz",
  "född",
  "doğum",
  "geboorte",
  "b.",
  "ميلاد",
  "الميلاد",
  "مواليد",
  "ولدت",
  "ولد في",
  "जन्म",
  "जन्मतिथि",
  "出生",
  "生日",
  "生于",
  "生年月日",
  "生まれ",
  "誕生日",
];

/** Months in Arabic (of Egypt and the Gulf, and of the Levant) and Hindi; hamza and the dot below may stand apart. */
const arabicMonth =
  "(?:يناير|فبراير|مارس|(?:أ|ا\u0654?)بريل|مايو|يونيو|يوليو|(?:أ|ا\u0654?)غسطس|سبتمبر|(?:أ|ا\u0654?)كتوبر|نوفمبر|ديسمبر|شباط|(?:آ|ا\u0653?)ذار|نيسان|(?:أ|ا\u0654?)يار|حزيران|تموز|(?:آ|ا\u0653?)ب|(?:أ|ا\u0654?)يلول|تشرين ال(?:أ|ا\u0654?)ول|تشرين الثاني|كانون ال(?:أ|ا\u0654?)ول|كانون الثاني)";
const hindiMonth = "(?:जनवरी|फ\u093c?रवरी|मार्च|अप्रैल|मई|जून|जुलाई|अगस्त|सितंबर|सितम्बर|अक्टूबर|अक्तूबर|नवंबर|नवम्बर|दिसंबर|दिसम्बर)";
const day = "(?:0?[1-9]|[12]\\d|3[01])";

/** Dates and times. Shapes that a version number or a fraction could have are weak. */
export const dates: readonly Recogniser[] = [
  {
    entity: "DATE_TIME",
    patterns: [
      {
        name: "ISO 8601",
        regex:
          /(?<![A-Za-z\d-])\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?(?![A-Za-z\d:])/g,
        score: 0.8,
      },
      {
        name: "year first",
        regex:
          /(?<![A-Za-z\d./-])[12]\d{3}(?:-(?:0?[1-9]|1[0-2])-(?:0?[1-9]|[12]\d|3[01])|\/(?:0?[1-9]|1[0-2])\/(?:0?[1-9]|[12]\d|3[01])|\.(?:0?[1-9]|1[0-2])\.(?:0?[1-9]|[12]\d|3[01]))(?![A-Za-z\d/-])/g,
        score: 0.6,
      },
      {
        name: "day or month first",
        regex:
          /(?<![A-Za-z\d./-])(?:0?[1-9]|[12]\d|3[01])(?:-(?:0?[1-9]|[12]\d|3[01])-|\/(?:0?[1-9]|[12]\d|3[01])\/|\.(?:0?[1-9]|[12]\d|3[01])\.)(?:[12]\d{3}|(?<!\b(?:version|versions|release|than|patch) [\d.]{4,6})\d{2})(?![A-Za-z\d/-])(?!\.\d)/g,
        score: 0.6,
      },
      {
        name: "month name",
        regex: new RegExp(`(?<![A-Za-z\\d-])(?:0?[1-9]|[12]\\d|3[01])-${month}-(?:[12]\\d{3}|\\d{2})(?![A-Za-z\\d-])`, "gi"),
        score: 0.6,
      },
      {
        name: "month and day",
        regex: new RegExp(
          `(?<![A-Za-z\\d-])(?:${month}-(?:0?[1-9]|[12]\\d|3[01])|(?:0?[1-9]|[12]\\d|3[01])-${month})(?![A-Za-z\\d-])`,
          "gi",
        ),
        score: 0.6,
      },
      {
        name: "month, day, year",
        regex: new RegExp(
          `(?<![A-Za-z\\d-])${month}\\.? (?:0?[1-9]|[12]\\d|3[01])(?:st|nd|rd|th)?(?:,? [12]\\d{3})?(?![A-Za-z\\d-])`,
          "gi",
        ),
        score: 0.6,
      },
      {
        name: "day, month, year",
        regex: new RegExp(
          `(?<![A-Za-z\\d-])(?:0?[1-9]|[12]\\d|3[01])(?:st|nd|rd|th|\\.)? (?:of )?${month}\\.?(?:,? [12]\\d{3})?(?![A-Za-z\\d-])`,
          "gi",
        ),
        score: 0.6,
      },
      {
        name: "day, month, year in other languages",
        regex: new RegExp(
          `(?<![A-Za-z\\d-])(?:0?[1-9]|[12]\\d|3[01])(?:er|º|\\.)? (?:de |di )?(?:${foreignMonth}|${month})(?:,? (?:de |del )?[12]\\d{3})?(?![\\p{L}\\d-])`,
          "giu",
        ),
        score: 0.6,
      },
      { name: "month and year", regex: new RegExp(`(?<![A-Za-z\\d-])${month},? [12]\\d{3}(?![A-Za-z\\d-])`, "gi"), score: 0.6 },
      { name: "weekday", regex: /(?<![A-Za-z\d])(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day(?![A-Za-z\d])/gi, score: 0.5 },
      {
        name: "year",
        regex:
          /(?<=\b(?:in|since|during|of|by|from|until|till|before|after|around|circa|year|early|late|mid|founded|dated|a|\d{4} to|\d{4} and) )(?:1[6-9]|20)\d{2}(?![A-Za-z\d%$-])(?!\.\d)(?! \d)/gi,
        score: 0.4,
      },
      { name: "time", regex: /(?<![A-Za-z\d:.])(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)? ?(?:am|pm)(?![A-Za-z\d:])/gi, score: 0.4 },
      {
        name: "month and day in digits",
        regex: /(?<![A-Za-z\d./-])(?:0?[1-9]|1[0-2])\/(?:0?[1-9]|[12]\d|3[01])(?![A-Za-z\d/-])/g,
        score: 0.1,
      },
    ],
    context: [...BIRTH_WORDS, "date", "today", "when", "day"],
    prior: 0.7,
  },
  {
    entity: "DATE_TIME",
    patterns: [
      {
        name: "year, month, day of China and Japan",
        regex:
          /(?<!\d)(?:(?:昭和|平成|令和|大正|明治) ?(?:\d{1,2}|元)|(?:19|20)?\d{2}) ?年 ?(?:0?[1-9]|1[0-2]) ?月 ?(?:0?[1-9]|[12]\d|3[01]) ?[日号]/g,
        score: 0.6,
      },
      {
        name: "day and month in Arabic",
        regex: new RegExp(`(?<!\\d)${day} ${arabicMonth} (?:19|20)\\d{2}(?!\\d)`, "g"),
        score: 0.6,
      },
      {
        name: "day and month in Hindi",
        regex: new RegExp(`(?<!\\d)${day} ${hindiMonth},? (?:19|20)\\d{2}(?!\\d)`, "g"),
        score: 0.6,
      },
    ],
    context: BIRTH_WORDS,
    needs: (folded) => /[\u0621-\u064a\u0904-\u0939年]/.test(folded),
    prior: 0.7,
  },
];
