/** Companies that carry somebody's name, by that name: of fashion, cars, banks, advisers and shops; apart by `|`. */
const NAMED =
  "hugo boss|morgan stanley|mercedes benz|calvin klein|tommy hilfiger|ralph lauren|michael kors|marc jacobs|louis vuitton|saint laurent|yves saint laurent|christian dior|giorgio armani|emporio armani|tom tailor|max mara|jack wolfskin|jack daniels|jack daniel's|johnnie walker|jim beam|harley davidson|aston martin|alfa romeo|john deere|john lewis|charles schwab|jp morgan|goldman sachs|wells fargo|merrill lynch|edward jones|raymond james|thomas cook|philip morris|eli lilly|baker mckenzie|clifford chance|booz allen|arthur andersen|jean paul gaultier|karl lagerfeld|jil sander|carl zeiss|robert bosch|robert half|alexander mcqueen|stella mccartney|salvatore ferragamo|jimmy choo|paul hartmann|peter hahn|ben sherman|ted baker|fred perry|john west|sara lee|mary kay|estee lauder|helena rubinstein|elizabeth arden|kate spade|tory burch|vera wang|vera bradley|bang olufsen|ernst young|duncan hines|ruth's chris|trader joe's|wendy's|papa john's|jack in the box|johns hopkins|carnegie mellon|allen institute|rio tinto|del monte|fisher price|smith wesson|black decker|taylor wimpey|jones lang";

/** The same, in lower case, without accents. */
export const COMPANIES: ReadonlySet<string> = new Set(NAMED.split("|"));
/** Makers and shops that go by one name, which may be a family name too; without those of software, which texts about programs are full of. */
export const BRANDS: ReadonlySet<string> = new Set(
  "renault peugeot citroen ferrari porsche ford chrysler mercedes mercedes-benz opel volkswagen audi bmw volvo skoda fiat michelin bentley lamborghini maserati bugatti honda toyota mazda nissan suzuki mitsubishi hyundai heinz nestle danone unilever pepsico coca-cola philips siemens miele bosch thyssenkrupp bayer basf pfizer novartis sanofi astrazeneca adidas gucci prada chanel dior armani lidl aldi ikea zalando carrefour tesco sainsbury's walmart levi's barclays lloyds hsbc commerzbank unicredit hilton marriott boeing airbus lufthansa ryanair easyjet disney gillette kellogg's dyson maersk dhl fedex aetna cigna humana allianz generali axa bupa prudential metlife aviva santander bbva citibank deloitte kpmg pwc accenture capgemini infosys orsted vattenfall iberdrola enel totalenergies equinor exxonmobil chevron gazprom rosneft petrobras glaxosmithkline merck medtronic samsung panasonic ericsson lenovo huawei xiaomi starbucks mcdonald's nespresso ikea decathlon primark zara h&m qantas iberia finnair aeroflot emirates klm".split(
    " ",
  ),
);
/** What is sold, made or owned under a brand, behind it. */
export const BRAND_BEHIND: ReadonlySet<string> = new Set(
  "store stores shop shops outlet boutique suit suits handbag perfume fragrance sneakers shares stock stocks dealership dealer dealers brand franchise showroom spokesman spokeswoman spokesperson ceo cars trucks filiale geschaft laden aktie boutiques magasin actions tienda acciones negozio azioni loja acoes winkel aandelen".split(
    " ",
  ),
);
/** Companies whose names are words: only where one works at them, or gets something from them. */
export const BRANDS_AT: ReadonlySet<string> = new Set(
  "shell apple target boots orange amazon google microsoft meta visa gap next total oracle intel uber".split(" "),
);
/** Institutions of several countries, as they call themselves in the languages of the Union and the United Nations; apart by `|`. */
export const INSTITUTIONS: ReadonlySet<string> = new Set(
  "european union|european commission|european parliament|european central bank|european court|united nations|world health organization|world health organisation|world trade organization|world bank|international monetary fund|red cross|europaische union|europaische kommission|europaisches parlament|europaische zentralbank|vereinte nationen|vereinten nationen|union europeenne|commission europeenne|parlement europeen|nations unies|union europea|comision europea|parlamento europeo|naciones unidas|unione europea|commissione europea|nazioni unite|uniao europeia|comissao europeia|parlamento europeu|nacoes unidas|europese unie|europese commissie|europees parlement|verenigde naties|unia europejska|komisja europejska".split(
    "|",
  ),
);
