import {
  type Bucket,
  eventsNamed,
  maxKeyBytes,
  type NotificationRule,
  rulesOverlap,
  webhookArn,
  webhookOfArn,
} from "@seneschal/core/storage";
import { type S3Call, type S3Reply, xmlReply } from "./call.ts";
import { s3Error } from "./errors.ts";
import { childText, type XmlElement, xmlDocument } from "./xml.ts";
import { readDocument } from "./xml-documents.ts";

const maxRules = 100;

/** Events that Amazon S3 knows and of which this gateway tells nothing. */
const untold =
  /^s3:(?:ReducedRedundancyLostObject|LifecycleTransition|IntelligentTiering|ObjectRestore:(?:\*|Post|Completed|Delete)|Replication:(?:\*|Operation\w+)|ObjectTagging:(?:\*|Put|Delete)|ObjectAcl:Put|ObjectAnnotation:(?:\*|Put|Delete))$/;

/** Sets which events of a bucket go to which webhooks; a configuration without any ends it. */
export async function putNotifications(call: S3Call): Promise<S3Reply> {
  const root = await readDocument(call, "NotificationConfiguration", { limit: 256 * 1024 });
  if (root.children.length > maxRules)
    throw s3Error("InvalidRequest", `a bucket has at most ${maxRules} notification configurations`);
  const fresh = () => Buffer.from(call.random(18)).toString("base64url");
  const rules = root.children.map((element) => readRule(element, fresh()));
  for (const [i, rule] of rules.entries())
    if (rules.slice(0, i).some(({ id }) => id === rule.id))
      throw invalid("Same ID used for multiple configurations. IDs must be unique", "Id", rule.id);
  for (const [i, rule] of rules.entries())
    if (rules.slice(0, i).some((other) => rulesOverlap(rule, other)))
      throw invalid(
        "Configurations overlap. Configurations on the same bucket cannot share a common event type.",
        "Event",
        rule.events.join(","),
      );
  // One of another tenant is as one that there is not: names tell nothing of who has which.
  for (const { webhook } of rules)
    if (!call.objects.mayNotify(call.tenant, webhook))
      throw invalid(
        "Unable to validate the following destination configurations",
        webhookArn(webhook),
        "The destination does not exist",
      );
  await call.objects.openBucket(call.tenant, call.bucket);
  call.objects.refuseInMaintenance();
  for (const { webhook } of rules) await call.objects.placeWebhook(webhook);
  const set = ({ notifications: _, ...bucket }: Bucket) =>
    ({ ...bucket, ...(rules.length > 0 && { notifications: rules }) }) as unknown as Bucket;
  await call.objects.changeBucket(call.tenant, call.bucket, "notifications", set);
  return { status: 200 };
}

/** What a configuration says that cannot be, with the place where it says so. */
function invalid(message: string, ArgumentName: string, ArgumentValue: string) {
  return s3Error("InvalidArgument", message, { elements: { ArgumentName, ArgumentValue } });
}

/** Reads a configuration. Throws `InvalidArgument`, `MalformedXML`, `NotImplemented`. */
function readRule(element: XmlElement, freshId: string): NotificationRule {
  const id = childText(element, "Id")?.trim() || freshId;
  if (id.length > 255) throw invalid("The ID of a configuration takes at most 255 characters", "Id", id);
  const queue = childText(element, "Queue")?.trim();
  if (queue === undefined) throw s3Error("MalformedXML", "a QueueConfiguration has a Queue");
  const webhook = webhookOfArn(queue);
  if (webhook === undefined) throw invalid("The ARN could not be parsed", "Queue", queue);
  const events = element.children.filter(({ name }) => name === "Event").map(({ text }) => text.trim());
  if (events.length === 0) throw s3Error("MalformedXML", "a QueueConfiguration has Events");
  for (const event of events) {
    if (eventsNamed(event).length > 0) continue;
    const elements = { ArgumentName: "Event", ArgumentValue: event };
    if (untold.test(event)) throw s3Error("NotImplemented", `The event ${event} is not implemented here.`, { elements });
    throw s3Error("InvalidArgument", "A specified event is not supported for notifications.", { elements });
  }
  return { id, webhook, events: [...new Set(events)], ...readFilter(element.children.find(({ name }) => name === "Filter")) };
}

function readFilter(filter: XmlElement | undefined): Pick<NotificationRule, "prefix" | "suffix"> {
  const read: { prefix?: string; suffix?: string } = {};
  for (const rule of filter?.children[0]?.children ?? []) {
    const name = childText(rule, "Name")?.trim().toLowerCase();
    const value = childText(rule, "Value");
    if (name === undefined || value === undefined) throw s3Error("MalformedXML", "a FilterRule has a Name and a Value");
    if (name !== "prefix" && name !== "suffix")
      throw invalid("filter rule name must be either prefix or suffix", "FilterRule.Name", name);
    if (read[name] !== undefined)
      throw invalid(`Cannot specify more than one ${name} rule in a filter.`, "FilterRule.Name", name);
    if (Buffer.byteLength(value) > maxKeyBytes)
      throw invalid(`Size of filter rule value cannot exceed ${maxKeyBytes} bytes`, "FilterRule.Value", value);
    read[name] = value;
  }
  return read;
}

/** A bucket that tells nothing has an empty configuration. */
export async function getNotifications(call: S3Call): Promise<S3Reply> {
  const { notifications = [] } = await call.objects.openBucket(call.tenant, call.bucket);
  const shown = notifications.map(({ id, webhook, events, prefix, suffix }) => {
    const rules = [
      ...(prefix === undefined ? [] : [{ Name: "Prefix", Value: prefix }]),
      ...(suffix === undefined ? [] : [{ Name: "Suffix", Value: suffix }]),
    ];
    return {
      Id: id,
      Queue: webhookArn(webhook),
      Event: events,
      ...(rules.length > 0 && { Filter: { S3Key: { FilterRule: rules } } }),
    };
  });
  return xmlReply(xmlDocument("NotificationConfiguration", { QueueConfiguration: shown }));
}
