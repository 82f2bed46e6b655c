/** Three of five custodians sign; no share leaves its holder, and the signature is ordinary Ed25519. */
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { aggregateSignature, dealCrk, newSigningRound, Signer } from "@seneschal/crypto/threshold";

const { crk, shares } = dealCrk({ threshold: 3, total: 5, random: systemRandom });
const message = new TextEncoder().encode("archive workspace 42");

// The coordinator opens a round; each custodian commits to nonces, then signs what all have committed to.
const round = newSigningRound(crk, "round-1", message);
const signers = [shares[0], shares[2], shares[4]].map((share) => {
  if (share === undefined) throw new Error("five shares were dealt");
  return new Signer(crk, share, round, systemRandom);
});
const commitments = signers.map((signer) => signer.commitment);
const parts = signers.map((signer) => signer.sign(round, commitments));
const signature = aggregateSignature(crk, round, commitments, parts);

if (!nodeCrypto.ed25519Verify(crk.publicKey, message, signature)) throw new Error("the signature should verify");
console.log("signed by 1, 3 and 5:", Buffer.from(signature).toString("base64"));
