"""
What is not built, and conditions that are not met, by boto3 (client.py of docs/storage.md): refused by name. Arguments: none. The buckets
unbuilt-empty and unbuilt, with the objects src and dst in it, are there already; whoever started this looks whether anything has changed.
"""
from botocore.exceptions import ClientError

from client import s3

dst = {"Bucket": "unbuilt", "Key": "dst"}
unbuilt = "NotImplemented"
said = {
    "delete_bucket_metrics_configuration": [(unbuilt, {"Bucket": "unbuilt-empty", "Id": "x"})],
    "delete_bucket_inventory_configuration": [(unbuilt, {"Bucket": "unbuilt-empty", "Id": "x"})],
    "delete_bucket_analytics_configuration": [(unbuilt, {"Bucket": "unbuilt-empty", "Id": "x"})],
    "delete_bucket_intelligent_tiering_configuration": [(unbuilt, {"Bucket": "unbuilt-empty", "Id": "x"})],
    "list_bucket_metrics_configurations": [(unbuilt, {"Bucket": "unbuilt"})],
    "get_bucket_accelerate_configuration": [(unbuilt, {"Bucket": "unbuilt"})],
    "put_bucket_request_payment": [(unbuilt, {"Bucket": "unbuilt", "RequestPaymentConfiguration": {"Payer": "Requester"}})],
    "put_bucket_metrics_configuration": [(unbuilt, {"Bucket": "unbuilt", "Id": "x", "MetricsConfiguration": {"Id": "x"}})],
    "rename_object": [(unbuilt, {**dst, "RenameSource": "unbuilt/src"})],
    "put_object": [(unbuilt, {**dst, "WriteOffsetBytes": 4, "Body": b"small"})],
    "restore_object": [(unbuilt, {**dst, "RestoreRequest": {"Days": 1}})],
    "get_object_torrent": [(unbuilt, dst)],
    "put_object_acl": [("AccessControlListNotSupported", {**dst, "ACL": "public-read"})],
    "create_bucket": [("InvalidBucketAclWithObjectOwnership", {"Bucket": "unbuilt-public", "ACL": "public-read"})],
    "delete_object": [
        ("PreconditionFailed", {**dst, "IfMatch": '"deadbeef"'}),
        ("PreconditionFailed", {**dst, "IfMatchSize": 3}),
        ("NoSuchVersion", {**dst, "VersionId": "v1"}),
    ],
}
for name, calls in said.items():
    for code, arguments in calls:
        try:
            getattr(s3, name)(**arguments)
        except ClientError as error:
            if error.response["Error"]["Code"] != code:
                raise SystemExit(f"BAD {name}: {error}")
            print("ok", name)
        else:
            raise SystemExit(f"BAD not refused: {name} {arguments}")
for code, named in [("NoSuchVersion", {"VersionId": "v1"}), ("PreconditionFailed", {"ETag": '"deadbeef"'})]:
    answer = s3.delete_objects(Bucket="unbuilt", Delete={"Objects": [{"Key": "dst", **named}]})
    if [error["Code"] for error in answer.get("Errors", [])] != [code] or "Deleted" in answer:
        raise SystemExit(f"BAD delete_objects: {answer}")
    print("ok delete_objects")
