import type { MethodDefinition, PackageDefinition } from "@grpc/proto-loader";
import { protoLoader } from "../grpc.ts";

/**
 * The part of etcd's v3 API that we use (api/etcdserverpb/rpc.proto, mvccpb/kv.proto), as a protobuf JSON descriptor, so
 * that it is there in every build. Enumerations are declared int32, which is the same on the wire: numbers go out as
 * they are, and no misspelt word can silently become 0.
 */
const descriptor = {
  nested: {
    etcdserverpb: {
      nested: {
        ResponseHeader: message({
          cluster_id: [1, "uint64"],
          member_id: [2, "uint64"],
          revision: [3, "int64"],
          raft_term: [4, "uint64"],
        }),
        KeyValue: message({
          key: [1, "bytes"],
          create_revision: [2, "int64"],
          mod_revision: [3, "int64"],
          version: [4, "int64"],
          value: [5, "bytes"],
          lease: [6, "int64"],
        }),
        RangeRequest: message({
          key: [1, "bytes"],
          range_end: [2, "bytes"],
          limit: [3, "int64"],
          revision: [4, "int64"],
          sort_order: [5, "int32"],
          sort_target: [6, "int32"],
          serializable: [7, "bool"],
          keys_only: [8, "bool"],
          count_only: [9, "bool"],
        }),
        RangeResponse: message({
          header: [1, "ResponseHeader"],
          kvs: [2, "KeyValue", "repeated"],
          more: [3, "bool"],
          count: [4, "int64"],
        }),
        PutRequest: message({ key: [1, "bytes"], value: [2, "bytes"], lease: [3, "int64"] }),
        PutResponse: message({ header: [1, "ResponseHeader"] }),
        DeleteRangeRequest: message({ key: [1, "bytes"], range_end: [2, "bytes"] }),
        DeleteRangeResponse: message({ header: [1, "ResponseHeader"], deleted: [2, "int64"] }),
        RequestOp: choice("request", {
          request_range: [1, "RangeRequest"],
          request_put: [2, "PutRequest"],
          request_delete_range: [3, "DeleteRangeRequest"],
        }),
        ResponseOp: choice("response", {
          response_range: [1, "RangeResponse"],
          response_put: [2, "PutResponse"],
          response_delete_range: [3, "DeleteRangeResponse"],
        }),
        Compare: {
          ...choice("target_union", {
            version: [4, "int64"],
            create_revision: [5, "int64"],
            mod_revision: [6, "int64"],
            value: [7, "bytes"],
            lease: [8, "int64"],
          }),
          fields: {
            ...message({
              result: [1, "int32"],
              target: [2, "int32"],
              key: [3, "bytes"],
              version: [4, "int64"],
              create_revision: [5, "int64"],
              mod_revision: [6, "int64"],
              value: [7, "bytes"],
              lease: [8, "int64"],
            }).fields,
          },
        },
        TxnRequest: message({
          compare: [1, "Compare", "repeated"],
          success: [2, "RequestOp", "repeated"],
          failure: [3, "RequestOp", "repeated"],
        }),
        TxnResponse: message({ header: [1, "ResponseHeader"], succeeded: [2, "bool"], responses: [3, "ResponseOp", "repeated"] }),
        CompactionRequest: message({ revision: [1, "int64"], physical: [2, "bool"] }),
        CompactionResponse: message({ header: [1, "ResponseHeader"] }),
        WatchCreateRequest: message({ key: [1, "bytes"], range_end: [2, "bytes"], start_revision: [3, "int64"] }),
        WatchRequest: choice("request_union", { create_request: [1, "WatchCreateRequest"] }),
        WatchResponse: message({
          header: [1, "ResponseHeader"],
          watch_id: [2, "int64"],
          created: [3, "bool"],
          canceled: [4, "bool"],
          compact_revision: [5, "int64"],
          cancel_reason: [6, "string"],
          events: [11, "Event", "repeated"],
        }),
        Event: message({ type: [1, "int32"], kv: [2, "KeyValue"] }),
        LeaseGrantRequest: message({ TTL: [1, "int64"], ID: [2, "int64"] }),
        LeaseGrantResponse: message({ header: [1, "ResponseHeader"], ID: [2, "int64"], TTL: [3, "int64"], error: [4, "string"] }),
        LeaseRevokeRequest: message({ ID: [1, "int64"] }),
        LeaseRevokeResponse: message({ header: [1, "ResponseHeader"] }),
        LeaseKeepAliveRequest: message({ ID: [1, "int64"] }),
        LeaseKeepAliveResponse: message({ header: [1, "ResponseHeader"], ID: [2, "int64"], TTL: [3, "int64"] }),
        StatusRequest: message({}),
        StatusResponse: message({
          header: [1, "ResponseHeader"],
          version: [2, "string"],
          dbSize: [3, "int64"],
          leader: [4, "uint64"],
          raftIndex: [5, "uint64"],
          raftTerm: [6, "uint64"],
          errors: [8, "string", "repeated"],
          dbSizeInUse: [9, "int64"],
        }),
        AlarmRequest: message({ action: [1, "int32"], memberID: [2, "uint64"], alarm: [3, "int32"] }),
        AlarmMember: message({ memberID: [1, "uint64"], alarm: [2, "int32"] }),
        AlarmResponse: message({ header: [1, "ResponseHeader"], alarms: [2, "AlarmMember", "repeated"] }),
        DefragmentRequest: message({}),
        DefragmentResponse: message({ header: [1, "ResponseHeader"] }),
        MemberListRequest: message({}),
        Member: message({
          ID: [1, "uint64"],
          name: [2, "string"],
          peerURLs: [3, "string", "repeated"],
          clientURLs: [4, "string", "repeated"],
        }),
        MemberListResponse: message({ header: [1, "ResponseHeader"], members: [2, "Member", "repeated"] }),
        AuthenticateRequest: message({ name: [1, "string"], password: [2, "string"] }),
        AuthenticateResponse: message({ header: [1, "ResponseHeader"], token: [2, "string"] }),
        KV: service({ Range: "Range", DeleteRange: "DeleteRange", Put: "Put", Txn: "Txn", Compact: "Compaction" }),
        Watch: { methods: { Watch: method("Watch", true) } },
        Lease: {
          methods: {
            LeaseGrant: method("LeaseGrant"),
            LeaseRevoke: method("LeaseRevoke"),
            LeaseKeepAlive: method("LeaseKeepAlive", true),
          },
        },
        Maintenance: service({ Alarm: "Alarm", Status: "Status", Defragment: "Defragment" }),
        Cluster: service({ MemberList: "MemberList" }),
        Auth: service({ Authenticate: "Authenticate" }),
      },
    },
  },
};

type Fields = Readonly<Record<string, readonly [id: number, type: string, rule?: "repeated"]>>;

function message(fields: Fields) {
  return {
    fields: Object.fromEntries(
      Object.entries(fields).map(([name, [id, type, rule]]) => [name, { id, type, ...(rule === undefined ? {} : { rule }) }]),
    ),
  };
}

function choice(name: string, fields: Fields) {
  return { ...message(fields), oneofs: { [name]: { oneof: Object.keys(fields) } } };
}

function method(name: string, stream = false) {
  return {
    requestType: `${name}Request`,
    responseType: `${name}Response`,
    ...(stream ? { requestStream: true, responseStream: true } : {}),
  };
}

function service(methods: Readonly<Record<string, string>>) {
  return { methods: Object.fromEntries(Object.entries(methods).map(([name, type]) => [name, method(type)])) };
}

const reading = { keepCase: true, longs: String, defaults: true, arrays: true, objects: true, oneofs: true } as const;

let loaded: PackageDefinition | undefined;

/** The wire form of one method, `Service.Method`. */
export function methodOf(name: string): MethodDefinition<object, object> {
  const [serviceName = "", methodName = ""] = name.split(".");
  const { fromJSON } = protoLoader();
  loaded ??= fromJSON(descriptor as Parameters<typeof fromJSON>[0], reading);
  const found = loaded[`etcdserverpb.${serviceName}`] as Readonly<Record<string, MethodDefinition<object, object>>>;
  return found[methodName] as MethodDefinition<object, object>;
}

/** `Compare.result` and `Compare.target` of rpc.proto. */
export const compareResult = { equal: 0, greater: 1, less: 2, notEqual: 3 } as const;
export const compareTarget = { version: 0, create: 1, mod: 2, value: 3, lease: 4 } as const;

export interface KeyValue {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly mod_revision: string;
  readonly create_revision: string;
  readonly version: string;
  readonly lease: string;
}

interface Header {
  readonly revision: string;
  readonly member_id: string;
  readonly raft_term: string;
}

export interface RangeReply {
  readonly header: Header;
  readonly kvs: readonly KeyValue[];
  readonly more: boolean;
  readonly count: string;
}

export interface TxnReply {
  readonly header: Header;
  readonly succeeded: boolean;
  readonly responses: readonly { readonly response_range?: RangeReply | null }[];
}
