"""
boto3 with its defaults, by the client of docs/storage.md (client.py). Arguments: the port of the gateway, which is called s3.example.org here.
"""
import datetime, hashlib, io, os, socket, sys, threading, urllib.error, urllib.request

import boto3, ssl
from botocore.config import Config
from botocore.exceptions import ClientError
from boto3.s3.transfer import TransferConfig

from client import s3

port = int(sys.argv[1])
MiB = 1 << 20


def ok(said, *facts):
    if not all(facts):
        raise SystemExit(f"BAD {said}: {facts}")
    print("ok", said)


def refused(call, **arguments):
    """The code and status of what must not be done."""
    try:
        call(**arguments)
    except ClientError as error:
        return error.response["Error"]["Code"], error.response["ResponseMetadata"]["HTTPStatusCode"]
    raise SystemExit(f"BAD not refused: {call} {arguments}")


def fetch(url, method="GET", body=None, headers={}):
    request = urllib.request.Request(url, body, headers, method=method)
    try:
        with urllib.request.urlopen(request, context=ssl.create_default_context(cafile=os.environ["AWS_CA_BUNDLE"])) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


# Transfers: multipart with the checksums that boto3 makes unasked, and downloads by ranges in threads.
s3.create_bucket(Bucket="boto")
s3.get_waiter("bucket_exists").wait(Bucket="boto", WaiterConfig={"Delay": 1})
big = hashlib.shake_256(b"big").digest(9 * MiB + 7)
with open("boto.big", "wb") as file:
    file.write(big)
parts = TransferConfig(multipart_threshold=5 * MiB, multipart_chunksize=5 * MiB)
seen = []
s3.upload_file("boto.big", "boto", "dir/big", Config=parts, Callback=seen.append, ExtraArgs={"ContentType": "text/x", "Metadata": {"Who": "boto"}})
head = s3.head_object(Bucket="boto", Key="dir/big", ChecksumMode="ENABLED")
ok("upload_file: parts, type, metadata and the checksum that boto3 made", sum(seen) == len(big), head["ContentLength"] == len(big), head["ETag"].endswith('-2"'), head["ContentType"] == "text/x", head["Metadata"] == {"who": "boto"}, head.get("ChecksumCRC32", "").endswith("-2"), head.get("ChecksumType") == "COMPOSITE")
back = io.BytesIO()
s3.download_fileobj("boto", "dir/big", back, Config=parts)
s3.download_file("boto", "dir/big", "boto.back", Config=parts)
ok("download_fileobj and download_file by ranges", back.getvalue() == big, open("boto.back", "rb").read() == big)


class Stream(io.RawIOBase):
    """A body whose length nobody knows, and that cannot be read twice."""

    def __init__(self, data):
        self.rest = data

    def readable(self):
        return True

    def read(self, count=-1):
        count = len(self.rest) if count < 0 else count
        piece, self.rest = self.rest[:count], self.rest[count:]
        return piece


s3.upload_fileobj(Stream(big), "boto", "streamed", Config=parts)
whole = s3.get_object(Bucket="boto", Key="streamed")
some = s3.get_object(Bucket="boto", Key="streamed", Range="bytes=5242870-5242890")
ok("upload_fileobj of a stream, get_object of all and of a range", whole["Body"].read() == big, some["Body"].read() == big[5242870:5242891], some["ContentRange"] == f"bytes 5242870-5242890/{len(big)}")
put = s3.put_object(Bucket="boto", Key="small", Body=b"small", Tagging="a=1&b=%C3%A9", CacheControl="no-cache", StorageClass="STANDARD")
got = s3.get_object(Bucket="boto", Key="small")
ok("put_object with its CRC32, which get_object proves", put["ChecksumCRC32"] != "", got["Body"].read() == b"small", got["ChecksumCRC32"] == put["ChecksumCRC32"], got["TagCount"] == 2, got["CacheControl"] == "no-cache")
for algorithm in ["SHA1", "SHA256"]:
    put = s3.put_object(Bucket="boto", Key="summed", Body=io.BytesIO(b"summed"), ChecksumAlgorithm=algorithm)
    told = s3.get_object_attributes(Bucket="boto", Key="summed", ObjectAttributes=["Checksum", "ObjectSize"])
    ok(f"a trailer of {algorithm}", told["ObjectSize"] == 6, told["Checksum"][f"Checksum{algorithm}"] == put[f"Checksum{algorithm}"])
# Which boto3 would send again.
once = boto3.client("s3", endpoint_url=s3.meta.endpoint_url, config=Config(retries={"total_max_attempts": 1}))
ok("a body that is not what was summed", refused(once.put_object, Bucket="boto", Key="wrong", Body=b"x", ChecksumSHA256="A" * 43 + "=") == ("BadDigest", 400))
s3.copy({"Bucket": "boto", "Key": "dir/big"}, "boto", "copied", Config=parts)
s3.copy_object(Bucket="boto", Key="renamed é+%20 ~", CopySource={"Bucket": "boto", "Key": "small"}, MetadataDirective="REPLACE", Metadata={"x": "y"})
renamed = s3.get_object(Bucket="boto", Key="renamed é+%20 ~")
ok("copy by parts, copy_object with metadata of its own", s3.get_object(Bucket="boto", Key="copied")["Body"].read() == big, renamed["Metadata"] == {"x": "y"}, renamed["Body"].read() == b"small")

# Listings by pages.
keys = [f"many/{i:03}/é &<" for i in range(45)]
for key in keys:
    s3.put_object(Bucket="boto", Key=key, Body=b"")
pages = list(s3.get_paginator("list_objects_v2").paginate(Bucket="boto", Prefix="many/", PaginationConfig={"PageSize": 20}))
old = [c["Key"] for page in s3.get_paginator("list_objects").paginate(Bucket="boto", Prefix="many/", PaginationConfig={"PageSize": 7}) for c in page["Contents"]]
below = [p["Prefix"] for page in s3.get_paginator("list_objects_v2").paginate(Bucket="boto", Delimiter="/", PaginationConfig={"PageSize": 2}) for p in page.get("CommonPrefixes", [])]
ok("paginators of both listings", [len(page["Contents"]) for page in pages] == [20, 20, 5], [c["Key"] for page in pages for c in page["Contents"]] == keys, old == keys, below == ["dir/", "many/"])
gone = s3.delete_objects(Bucket="boto", Delete={"Objects": [{"Key": key} for key in keys + ["never there"]]})
ok("delete_objects", len(gone["Deleted"]) == 46, "Errors" not in gone, s3.list_objects_v2(Bucket="boto", Prefix="many/")["KeyCount"] == 0)

# Conditions.
first = s3.put_object(Bucket="boto", Key="once", Body=b"1", IfNoneMatch="*")["ETag"]
ok("IfNoneMatch", refused(s3.put_object, Bucket="boto", Key="once", Body=b"2", IfNoneMatch="*") == ("PreconditionFailed", 412))
second = s3.put_object(Bucket="boto", Key="once", Body=b"2", IfMatch=first)["ETag"]
ok("IfMatch", refused(s3.put_object, Bucket="boto", Key="once", Body=b"3", IfMatch=first) == ("PreconditionFailed", 412), refused(s3.put_object, Bucket="boto", Key="nowhere", Body=b"3", IfMatch=first)[1] == 404)
ok("reads under conditions", refused(s3.get_object, Bucket="boto", Key="once", IfNoneMatch=second)[1] == 304, refused(s3.get_object, Bucket="boto", Key="once", IfMatch=first)[1] == 412, s3.get_object(Bucket="boto", Key="once", IfMatch=second)["Body"].read() == b"2")
upload = s3.create_multipart_upload(Bucket="boto", Key="once")["UploadId"]
part = s3.upload_part(Bucket="boto", Key="once", UploadId=upload, PartNumber=1, Body=b"part")
ok("a completion under IfNoneMatch", refused(s3.complete_multipart_upload, Bucket="boto", Key="once", UploadId=upload, IfNoneMatch="*", MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": part["ETag"], "ChecksumCRC32": part["ChecksumCRC32"]}]}) == ("PreconditionFailed", 412))
ok("list_parts, list_multipart_uploads", [p["Size"] for p in s3.list_parts(Bucket="boto", Key="once", UploadId=upload)["Parts"]] == [4], [u["UploadId"] for u in s3.list_multipart_uploads(Bucket="boto")["Uploads"]] == [upload])
s3.abort_multipart_upload(Bucket="boto", Key="once", UploadId=upload)
race = []


def claim(name):
    try:
        s3.put_object(Bucket="boto", Key="lock", Body=name.encode(), IfNoneMatch="*")
        race.append(name)
    except ClientError as error:
        if error.response["Error"]["Code"] not in ("PreconditionFailed", "ConditionalRequestConflict"):
            raise


threads = [threading.Thread(target=claim, args=(str(i),)) for i in range(8)]
[thread.start() for thread in threads], [thread.join() for thread in threads]
ok("of eight that claim a key at once one gets it", len(race) == 1, s3.get_object(Bucket="boto", Key="lock")["Body"].read().decode() == race[0])

# Versions, tags, locks.
s3.create_bucket(Bucket="boto-locked", ObjectLockEnabledForBucket=True)
ids = [s3.put_object(Bucket="boto-locked", Key="v", Body=str(i).encode())["VersionId"] for i in range(3)]
marker = s3.delete_object(Bucket="boto-locked", Key="v")
listed = list(s3.get_paginator("list_object_versions").paginate(Bucket="boto-locked", PaginationConfig={"PageSize": 2}))
ok("versions", marker["DeleteMarker"], [v["VersionId"] for page in listed for v in page.get("Versions", [])] == ids[::-1], [m["VersionId"] for page in listed for m in page.get("DeleteMarkers", [])] == [marker["VersionId"]], refused(s3.get_object, Bucket="boto-locked", Key="v") == ("NoSuchKey", 404), s3.get_object(Bucket="boto-locked", Key="v", VersionId=ids[1])["Body"].read() == b"1", refused(s3.head_object, Bucket="boto-locked", Key="v", VersionId=marker["VersionId"])[1] == 405)
until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)
one = {"Bucket": "boto-locked", "Key": "v", "VersionId": ids[0]}
s3.put_object_retention(**one, Retention={"Mode": "GOVERNANCE", "RetainUntilDate": until})
s3.put_object_legal_hold(**one, LegalHold={"Status": "ON"})
said = s3.get_object_retention(**one)["Retention"]
ok("a lock holds", said["Mode"] == "GOVERNANCE", abs(said["RetainUntilDate"] - until) < datetime.timedelta(seconds=1), refused(s3.delete_object, **one) == ("AccessDenied", 403), refused(s3.delete_object, **one, BypassGovernanceRetention=True) == ("AccessDenied", 403))
s3.put_object_legal_hold(**one, LegalHold={"Status": "OFF"})
s3.delete_object(**one, BypassGovernanceRetention=True)
s3.put_object_lock_configuration(Bucket="boto-locked", ObjectLockConfiguration={"ObjectLockEnabled": "Enabled", "Rule": {"DefaultRetention": {"Mode": "GOVERNANCE", "Days": 1}}})
kept = s3.put_object(Bucket="boto-locked", Key="kept", Body=b"kept")
s3.put_object(Bucket="boto-locked", Key="said", Body=b"said", ObjectLockMode="GOVERNANCE", ObjectLockRetainUntilDate=until, ObjectLockLegalHoldStatus="OFF")
ok("a default retention", s3.head_object(Bucket="boto-locked", Key="kept")["ObjectLockMode"] == "GOVERNANCE", refused(s3.delete_object, Bucket="boto-locked", Key="kept", VersionId=kept["VersionId"]) == ("AccessDenied", 403))
resource = boto3.resource("s3", endpoint_url=s3.meta.endpoint_url, config=s3.meta.config)
for version in resource.Bucket("boto-locked").object_versions.all():
    version.delete(BypassGovernanceRetention=True)
s3.delete_bucket(Bucket="boto-locked")
s3.get_waiter("bucket_not_exists").wait(Bucket="boto-locked", WaiterConfig={"Delay": 1})
tags = {"TagSet": [{"Key": "k é", "Value": "v+ =@"}]}
s3.put_object_tagging(Bucket="boto", Key="small", Tagging=tags)
s3.put_bucket_tagging(Bucket="boto", Tagging=tags)
ok("tags of an object and a bucket", s3.get_object_tagging(Bucket="boto", Key="small")["TagSet"] == tags["TagSet"], s3.get_bucket_tagging(Bucket="boto")["TagSet"] == tags["TagSet"])
rule = {"ID": "old", "Status": "Enabled", "Filter": {"Prefix": "tmp/"}, "Expiration": {"Days": 3}, "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1}}
s3.put_bucket_lifecycle_configuration(Bucket="boto", LifecycleConfiguration={"Rules": [rule]})
cors = {"AllowedMethods": ["GET"], "AllowedOrigins": ["https://example.org"], "MaxAgeSeconds": 5}
s3.put_bucket_cors(Bucket="boto", CORSConfiguration={"CORSRules": [cors]})
ok("a lifecycle and CORS come back as they were put", s3.get_bucket_lifecycle_configuration(Bucket="boto")["Rules"] == [rule], s3.get_bucket_cors(Bucket="boto")["CORSRules"] == [cors])

# Keys that the client keeps.
secret = {"SSECustomerAlgorithm": "AES256", "SSECustomerKey": bytes(range(32))}
s3.upload_fileobj(io.BytesIO(big), "boto", "secret", Config=parts, ExtraArgs=secret)
back = io.BytesIO()
s3.download_fileobj("boto", "secret", back, Config=parts, ExtraArgs=secret)
ok("SSE-C, by parts", back.getvalue() == big, refused(s3.get_object, Bucket="boto", Key="secret")[1] == 400)

# What others do with what was signed.
url = s3.generate_presigned_url("get_object", {"Bucket": "boto", "Key": "renamed é+%20 ~", "ResponseContentType": "text/y"})
ok("a presigned GET", fetch(url) == (200, b"small"), fetch(url.replace("text%2Fy", "text%2Fz"))[0] == 403)
url = s3.generate_presigned_url("put_object", {"Bucket": "boto", "Key": "by url", "ContentType": "text/plain"})
ok("a presigned PUT", fetch(url, "PUT", b"by url", {"Content-Type": "text/plain"})[0] == 200, fetch(url, "PUT", b"by url", {"Content-Type": "text/html"})[0] == 403, s3.get_object(Bucket="boto", Key="by url")["Body"].read() == b"by url")
form = s3.generate_presigned_post("boto", "forms/${filename}", Fields={"x-amz-meta-who": "me"}, Conditions=[["content-length-range", 1, 10], {"x-amz-meta-who": "me"}])
def post(data):
    body = b"".join(f'--edge\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode() for name, value in form["fields"].items())
    body += b'--edge\r\nContent-Disposition: form-data; name="file"; filename="f.txt"\r\n\r\n' + data + b"\r\n--edge--\r\n"
    return fetch(form["url"], "POST", body, {"Content-Type": "multipart/form-data; boundary=edge"})[0]
ok("a presigned POST", post(b"by form") == 204, post(b"much too long") == 400, s3.get_object(Bucket="boto", Key="forms/f.txt")["Body"].read() == b"by form")

# Errors by their names, as programs catch them.
for catch, call in [(s3.exceptions.NoSuchKey, lambda: s3.get_object(Bucket="boto", Key="none")), (s3.exceptions.NoSuchBucket, lambda: s3.list_objects_v2(Bucket="boto-none"))]:
    try:
        call()
        raise SystemExit(f"BAD not refused: {catch}")
    except catch as error:
        print("ok", error.response["Error"]["Code"])
ok("a bucket that is not empty, a part that was never sent, a key nobody has", refused(s3.delete_bucket, Bucket="boto") == ("BucketNotEmpty", 409), refused(s3.upload_part, Bucket="boto", Key="x", UploadId="none", PartNumber=1, Body=b"") == ("NoSuchUpload", 404), refused(boto3.client("s3", endpoint_url=s3.meta.endpoint_url, aws_access_key_id="SNNONE", aws_secret_access_key="x").list_buckets) == ("InvalidAccessKeyId", 403))

# Buckets below the domain. A client of a machine whose names are this one's.
resolve = socket.getaddrinfo
socket.getaddrinfo = lambda host, *rest, **named: resolve("127.0.0.1" if host.endswith("s3.example.org") else host, *rest, **named)
hosted = boto3.client("s3", endpoint_url=f"https://s3.example.org:{port}", config=Config(s3={"addressing_style": "virtual"}, signature_version="s3v4"))
hosted.create_bucket(Bucket="boto-hosted")
hosted.upload_file("boto.big", "boto-hosted", "big", Config=parts)
url = hosted.generate_presigned_url("get_object", {"Bucket": "boto-hosted", "Key": "big"})
ok("virtual-host addressing", url.startswith(f"https://boto-hosted.s3.example.org:{port}/big?"), fetch(url) == (200, big), [b["Key"] for b in hosted.list_objects_v2(Bucket="boto-hosted")["Contents"]] == ["big"], s3.head_object(Bucket="boto-hosted", Key="big")["ContentLength"] == len(big))
for name in ["boto-hosted", "boto"]:
    resource.Bucket(name).objects.all().delete()
    hosted.delete_bucket(Bucket=name)
ok("nothing is left", [b["Name"] for b in s3.list_buckets()["Buckets"] if b["Name"].startswith("boto")] == [])
