/** Companies that carry somebody's name, by that name: of fashion, cars, banks, advisers and shops; apart by `|`. */
const NAMED =
  "hugo boss|morgan stanley|mercedes benz|calvin klein|tommy hilfiger|ralph lauren|michael kors|marc jacobs|louis vuitton|saint laurent|yves saint laurent|christian dior|giorgio armani|emporio armani|tom tailor|max mara|jack wolfskin|jack daniels|jack daniel's|johnnie walker|jim beam|harley davidson|aston martin|alfa romeo|john deere|john lewis|charles schwab|jp morgan|goldman sachs|wells fargo|merrill lynch|edward jones|raymond james|thomas cook|philip morris|eli lilly|baker mckenzie|clifford chance|booz allen|arthur andersen|jean paul gaultier|karl lagerfeld|jil sander|carl zeiss|robert bosch|robert half|alexander mcqueen|stella mccartney|salvatore ferragamo|jimmy choo|paul hartmann|peter hahn|ben sherman|ted baker|fred perry|john west|sara lee|mary kay|estee lauder|helena rubinstein|elizabeth arden|kate spade|tory burch|vera wang|vera bradley|bang olufsen|ernst young|duncan hines|ruth's chris|trader joe's|wendy's|papa john's|jack in the box|johns hopkins|carnegie mellon|allen institute|rio tinto|del monte|fisher price|smith wesson|black decker|taylor wimpey|jones lang";

/** The same, in lower case, without accents. */
export const COMPANIES: ReadonlySet<string> = new Set(NAMED.split("|"));
/** Makers and shops that go by one name, which may be a family name too; without those of software, which texts about programs are full of. */
export const BRANDS: ReadonlySet<string> = new Set(
  "renault peugeot citroen ferrari porsche ford chrysler mercedes mercedes-benz opel volkswagen audi bmw volvo skoda fiat michelin bentley lamborghini maserati bugatti honda toyota mazda nissan suzuki mitsubishi hyundai heinz nestle danone unilever pepsico coca-cola philips siemens miele bosch thyssenkrupp bayer basf pfizer novartis sanofi astrazeneca adidas gucci prada chanel dior armani lidl aldi ikea zalando carrefour tesco sainsbury's walmart levi's barclays lloyds hsbc commerzbank unicredit hilton marriott boeing airbus lufthansa ryanair easyjet disney gillette kellogg's dyson maersk dhl fedex".split(
    " ",
  ),
);
/** What is sold, made or owned under a brand, behind it. */
export const BRAND_BEHIND: ReadonlySet<string> = new Set(
  "store stores shop shops outlet boutique suit suits handbag perfume fragrance sneakers shares stock stocks dealership dealer dealers brand franchise showroom spokesman spokeswoman spokesperson ceo cars trucks filiale geschaft laden aktie boutiques magasin actions tienda acciones negozio azioni loja acoes winkel aandelen".split(
    " ",
  ),
);
