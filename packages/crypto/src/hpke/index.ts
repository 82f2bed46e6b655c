export {
  HPKE_AEADS,
  type HpkeAead,
  type HpkeContext,
  type HpkeOptions,
  type HpkePsk,
  hpkeDeriveSecret,
  hpkeOpen,
  hpkeReceiver,
  hpkeSeal,
  hpkeSender,
} from "./hpke.ts";
export { type MessageEnvelope, openMessage, sealMessage } from "./message.ts";
