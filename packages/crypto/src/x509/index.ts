export { ecdsaSignatureFromDer, ecdsaSignatureToDer } from "./ecdsa-signature.ts";
