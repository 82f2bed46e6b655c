import { readText, type S3Call } from "./call.ts";
import { checksums } from "./checksums.ts";
import { readXml, type XmlElement, type XmlForm } from "./xml.ts";

const tag = { Key: "text", Value: "text" } as const;
const sizes = { ObjectSizeGreaterThan: "text", ObjectSizeLessThan: "text" } as const;
const conditions = { Prefix: "text", Tag: { each: tag }, ...sizes } as const;

/** The documents that requests bring, by their root (Amazon S3 API reference): the closed list of what each may say. */
export const documents = {
  CreateBucketConfiguration: { LocationConstraint: "text", Location: "unbuilt", Bucket: "unbuilt", Tags: { Tag: { each: tag } } },
  VersioningConfiguration: { Status: "text", MfaDelete: "text" },
  PublicAccessBlockConfiguration: {
    BlockPublicAcls: "boolean",
    IgnorePublicAcls: "boolean",
    BlockPublicPolicy: "boolean",
    RestrictPublicBuckets: "boolean",
  },
  ServerSideEncryptionConfiguration: {
    Rule: {
      ApplyServerSideEncryptionByDefault: { SSEAlgorithm: "text", KMSMasterKeyID: "text" },
      BucketKeyEnabled: "boolean",
      BlockedEncryptionTypes: "unbuilt",
    },
  },
  Tagging: { TagSet: { Tag: { each: tag } } },
  ObjectLockConfiguration: {
    ObjectLockEnabled: "text",
    Rule: { DefaultRetention: { Mode: "text", Days: "text", Years: "text" } },
  },
  Retention: { Mode: "text", RetainUntilDate: "text" },
  LegalHold: { Status: "text" },
  LifecycleConfiguration: {
    Rule: {
      each: {
        ID: "text",
        Prefix: "text",
        Status: "text",
        Filter: { ...conditions, Tag: tag, And: conditions },
        Expiration: { Days: "text", Date: "text", ExpiredObjectDeleteMarker: "boolean" },
        NoncurrentVersionExpiration: { NoncurrentDays: "text", NewerNoncurrentVersions: "text" },
        AbortIncompleteMultipartUpload: { DaysAfterInitiation: "text" },
        Transition: "unbuilt",
        NoncurrentVersionTransition: "unbuilt",
      },
    },
  },
  ReplicationConfiguration: {
    Role: "text",
    Rule: {
      each: {
        ID: "text",
        Priority: "text",
        Prefix: "text",
        Filter: { Prefix: "text", Tag: tag, And: { Prefix: "text", Tag: { each: tag } } },
        Status: "text",
        SourceSelectionCriteria: "unbuilt",
        ExistingObjectReplication: { Status: "text" },
        Destination: {
          Bucket: "text",
          StorageClass: "text",
          Account: "unbuilt",
          AccessControlTranslation: "unbuilt",
          EncryptionConfiguration: "unbuilt",
          ReplicationTime: "unbuilt",
          Metrics: "unbuilt",
        },
        DeleteMarkerReplication: { Status: "text" },
      },
    },
  },
  NotificationConfiguration: {
    QueueConfiguration: {
      each: {
        Id: "text",
        Queue: "text",
        Event: { each: "text" },
        Filter: { S3Key: { FilterRule: { each: { Name: "text", Value: "text" } } } },
      },
    },
    TopicConfiguration: "unbuilt",
    CloudFunctionConfiguration: "unbuilt",
    EventBridgeConfiguration: "unbuilt",
  },
  AccessControlPolicy: {
    Owner: { ID: "text", DisplayName: "text" },
    AccessControlList: {
      Grant: {
        each: {
          Grantee: { "@xsi:type": "text", ID: "text", DisplayName: "text", EmailAddress: "text", URI: "text" },
          Permission: "text",
        },
      },
    },
  },
  BucketLoggingStatus: {
    LoggingEnabled: {
      TargetBucket: "text",
      TargetPrefix: "text",
      TargetGrants: {
        Grant: {
          each: {
            Grantee: { "@xsi:type": "text", ID: "text", DisplayName: "text", EmailAddress: "text", URI: "text" },
            Permission: "text",
          },
        },
      },
      TargetObjectKeyFormat: { SimplePrefix: {}, PartitionedPrefix: { PartitionDateSource: "text" } },
    },
  },
  OwnershipControls: { Rule: { ObjectOwnership: "text" } },
  CORSConfiguration: {
    CORSRule: {
      each: {
        ID: "text",
        AllowedOrigin: { each: "text" },
        AllowedMethod: { each: "text" },
        AllowedHeader: { each: "text" },
        ExposeHeader: { each: "text" },
        MaxAgeSeconds: "integer",
      },
    },
  },
  WebsiteConfiguration: {
    RedirectAllRequestsTo: { HostName: "text", Protocol: "text" },
    IndexDocument: { Suffix: "text" },
    ErrorDocument: { Key: "text" },
    RoutingRules: {
      RoutingRule: {
        each: {
          Condition: { KeyPrefixEquals: "text", HttpErrorCodeReturnedEquals: "text" },
          Redirect: {
            HostName: "text",
            HttpRedirectCode: "text",
            Protocol: "text",
            ReplaceKeyPrefixWith: "text",
            ReplaceKeyWith: "text",
          },
        },
      },
    },
  },
  Delete: {
    Object: { each: { Key: "text", VersionId: "text", ETag: "text", LastModifiedTime: "text", Size: "text" } },
    Quiet: "boolean",
  },
  CompleteMultipartUpload: {
    Part: {
      each: {
        PartNumber: "integer",
        ETag: "text",
        ...(Object.fromEntries(Object.keys(checksums).map((name) => [`Checksum${name.toUpperCase()}`, "text"])) as Record<
          string,
          "text"
        >),
      },
    },
  },
} as const satisfies Readonly<Record<string, XmlForm>>;

/** The body of a request, which is a document of this name. Throws `MalformedXML`, `NotImplemented`. */
export async function readDocument(
  call: S3Call,
  name: keyof typeof documents,
  { limit = 64 * 1024, body = call.body() } = {},
): Promise<XmlElement> {
  return readXml(await readText(call, body, limit), name, documents[name]);
}
