"""minio-py with its defaults, by the client of docs/storage.md (client.py)."""
import datetime, hashlib, io, urllib.request

from client import s3
from minio.commonconfig import ENABLED, ComposeSource, CopySource, Filter, Tags, GOVERNANCE
from minio.deleteobjects import DeleteObject
from minio.error import S3Error
from minio.lifecycleconfig import Expiration, LifecycleConfig, Rule
from minio.notificationconfig import NotificationConfig
from minio.objectlockconfig import DAYS, ObjectLockConfig
from minio.datatypes import PostPolicy
from minio.retention import Retention
from minio.sse import SseCustomerKey
from minio.sseconfig import SSEConfig, Rule as SseRule
from minio.versioningconfig import VersioningConfig

MiB = 1 << 20


def ok(said, *facts):
    if not all(facts):
        raise SystemExit(f"BAD {said}: {facts}")
    print("ok", said)


def refused(call, *arguments, **named):
    """The code of what must not be done."""
    try:
        call(*arguments, **named)
    except S3Error as error:
        return error.code
    raise SystemExit(f"BAD not refused: {call} {arguments}")


def read(name, **named):
    answer = s3.get_object("minio-py", name, **named)
    try:
        return answer.read()
    finally:
        answer.close()
        answer.release_conn()


s3.make_bucket("minio-py")
ok("buckets", s3.bucket_exists("minio-py"), not s3.bucket_exists("minio-none"), "minio-py" in [b.name for b in s3.list_buckets()])
big = hashlib.shake_256(b"minio").digest(11 * MiB + 7)
with open("minio.big", "wb") as file:
    file.write(big)
s3.put_object("minio-py", "streamed", io.BytesIO(big), -1, part_size=5 * MiB, metadata={"who": "me"}, tags=(lambda t: (t.__setitem__("a", "1"), t)[1])(Tags.new_object_tags()))
s3.fput_object("minio-py", "dir/file é+%20", "minio.big", part_size=5 * MiB, content_type="text/x")
s3.fget_object("minio-py", "dir/file é+%20", "minio.back")
stat = s3.stat_object("minio-py", "streamed")
ok("put_object of unknown length, fput_object, fget_object", read("streamed") == big, open("minio.back", "rb").read() == big, stat.size == len(big), stat.metadata["x-amz-meta-who"] == "me", s3.stat_object("minio-py", "dir/file é+%20").content_type == "text/x")
ok("ranges", read("streamed", offset=5 * MiB - 3, length=7) == big[5 * MiB - 3 : 5 * MiB + 4], read("streamed", offset=len(big) - 2) == big[-2:])
s3.put_object("minio-py", "tail", io.BytesIO(b"tail"), 4)
s3.compose_object("minio-py", "composed", [ComposeSource("minio-py", "streamed"), ComposeSource("minio-py", "streamed", offset=0, length=6 * MiB), ComposeSource("minio-py", "tail")])
s3.copy_object("minio-py", "copied", CopySource("minio-py", "tail"))
ok("compose_object, copy_object", read("composed") == big + big[: 6 * MiB] + b"tail", read("copied") == b"tail")
for name in ["a/1", "a/b/2", "a/b/3 &<>", "c"]:
    s3.put_object("minio-py", f"list/{name}", io.BytesIO(b""), 0)
ok("list_objects", sorted(o.object_name for o in s3.list_objects("minio-py", "list/")) == ["list/a/", "list/c"], [o.object_name for o in s3.list_objects("minio-py", "list/", recursive=True)] == ["list/a/1", "list/a/b/2", "list/a/b/3 &<>", "list/c"], [o.object_name for o in s3.list_objects("minio-py", "list/", recursive=True, start_after="list/a/b/2", use_api_v1=True)] == ["list/a/b/3 &<>", "list/c"])
tags = Tags.new_object_tags()
tags["k"] = "v é"
s3.set_object_tags("minio-py", "tail", tags)
ok("tags", dict(s3.get_object_tags("minio-py", "tail")) == {"k": "v é"}, dict(s3.get_object_tags("minio-py", "streamed")) == {"a": "1"})
s3.delete_object_tags("minio-py", "tail")
ok("tags are gone", not s3.get_object_tags("minio-py", "tail"))

# Versions and locks.
s3.make_bucket("minio-locked", object_lock=True)
ids = [s3.put_object("minio-locked", "v", io.BytesIO(body), 1).version_id for body in (b"1", b"2")]
s3.remove_object("minio-locked", "v")
listed = [(o.version_id in ids, o.is_delete_marker, o.is_latest) for o in s3.list_objects("minio-locked", include_version=True)]
ok("versions", s3.get_bucket_versioning("minio-locked").status == ENABLED, listed == [(False, True, True), (True, False, False), (True, False, False)] or listed, refused(s3.get_object, "minio-locked", "v") == "NoSuchKey", s3.stat_object("minio-locked", "v", version_id=ids[0]).version_id == ids[0])
until = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0) + datetime.timedelta(days=1)
s3.set_object_retention("minio-locked", "v", Retention(GOVERNANCE, until), version_id=ids[0])
s3.enable_object_legal_hold("minio-locked", "v", version_id=ids[1])
said = s3.get_object_retention("minio-locked", "v", version_id=ids[0])
ok("locks hold", said.mode == GOVERNANCE, said.retain_until_date == until, s3.is_object_legal_hold_enabled("minio-locked", "v", version_id=ids[1]), refused(s3.remove_object, "minio-locked", "v", version_id=ids[0]) == "AccessDenied", refused(s3.remove_object, "minio-locked", "v", version_id=ids[1]) == "AccessDenied")
s3.disable_object_legal_hold("minio-locked", "v", version_id=ids[1])
s3.set_object_lock_config("minio-locked", ObjectLockConfig(GOVERNANCE, 1, DAYS))
ok("a default retention", s3.get_object_lock_config("minio-locked").mode == GOVERNANCE)
s3.delete_object_lock_config("minio-locked")
everything = [DeleteObject(o.object_name, o.version_id) for o in s3.list_objects("minio-locked", include_version=True)]
ok("remove_objects, past a governance", [e.code for e in s3.remove_objects("minio-locked", everything, bypass_governance_mode=True)] == [], list(s3.list_objects("minio-locked", include_version=True)) == [])
s3.remove_bucket("minio-locked")

# What is set for a bucket.
policy = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":["*"]},"Action":["s3:GetObject"],"Resource":["arn:aws:s3:::minio-py/open/*"]}]}'
s3.set_bucket_policy("minio-py", policy)
s3.put_object("minio-py", "open/to all", io.BytesIO(b"open"), 4)
url = s3.get_presigned_url("GET", "minio-py", "open/to all").split("?")[0]
ok("a policy opens", s3.get_bucket_policy("minio-py") == policy, urllib.request.urlopen(url).read() == b"open")
s3.delete_bucket_policy("minio-py")
ok("no policy", refused(s3.get_bucket_policy, "minio-py") == "NoSuchBucketPolicy")
s3.set_bucket_versioning("minio-py", VersioningConfig(ENABLED))
bucket_tags = Tags.new_bucket_tags()
bucket_tags["team"] = "x"
s3.set_bucket_tags("minio-py", bucket_tags)
s3.set_bucket_lifecycle("minio-py", LifecycleConfig([Rule(ENABLED, rule_filter=Filter(prefix="tmp/"), rule_id="old", expiration=Expiration(days=3))]))
s3.set_bucket_encryption("minio-py", SSEConfig(SseRule.new_sse_s3_rule()))
rule = s3.get_bucket_lifecycle("minio-py").rules[0]
ok("versioning, tags, lifecycle, encryption", s3.get_bucket_versioning("minio-py").status == ENABLED, dict(s3.get_bucket_tags("minio-py")) == {"team": "x"}, (rule.rule_id, rule.expiration.days, rule.rule_filter.prefix) == ("old", 3, "tmp/"), s3.get_bucket_encryption("minio-py").rule.sse_algorithm == "AES256")
s3.set_bucket_notification("minio-py", NotificationConfig())
ok("notifications", not s3.get_bucket_notification("minio-py").queue_config_list)
secret = SseCustomerKey(bytes(range(32)))
s3.put_object("minio-py", "secret", io.BytesIO(big), len(big), part_size=5 * MiB, sse=secret)
ok("SSE-C, by parts", read("secret", ssec=secret) == big, refused(s3.get_object, "minio-py", "secret") in ("InvalidRequest", "InvalidArgument"))

# What was signed for others.
form = PostPolicy("minio-py", datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=5))
form.add_equals_condition("key", "form")
form.add_content_length_range_condition(1, 10)
fields = {"key": "form", **s3.presigned_post_policy(form)}
body = b"".join(f'--edge\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode() for name, value in fields.items())
body += b'--edge\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nby form\r\n--edge--\r\n'
to = url.split("minio-py")[0] + "minio-py"
sent = urllib.request.urlopen(urllib.request.Request(to, body, {"Content-Type": "multipart/form-data; boundary=edge"}, method="POST"))
put = urllib.request.urlopen(urllib.request.Request(s3.presigned_put_object("minio-py", "by url é"), b"by url", method="PUT"))
ok("presigned forms and URLs", sent.status == 204, read("form") == b"by form", put.status == 200, urllib.request.urlopen(s3.presigned_get_object("minio-py", "by url é", response_headers={"response-content-type": "a/b"})).read() == b"by url")
ok("errors by their names", refused(s3.get_object, "minio-py", "none") == "NoSuchKey", refused(s3.remove_bucket, "minio-py") == "BucketNotEmpty", refused(s3.stat_object, "minio-none", "x") in ("NoSuchBucket", "NoSuchKey"))
everything = [DeleteObject(o.object_name, o.version_id) for o in s3.list_objects("minio-py", recursive=True, include_version=True)]
ok("nothing is left", list(s3.remove_objects("minio-py", everything)) == [], s3.remove_bucket("minio-py") is None)
