"""What Cloud Storage says when it refuses, word for word, in both of its languages.

Must not decide whether to refuse. Where the words were seen in public, by function (issues are
those of github.com):
`no_such_object`: googleapis/java-storage 49. `condition_failed`: hashicorp/terraform 30149; its
location: vitalif/grive2 21. `bucket_exists`: gitpod-io/gitpod 15578, for others' buckets
percona/mongo_terraform_ansible 24. `bucket_not_empty`: kestra-io/plugin-gcp 321.
`hash_mismatch`: googleapis/python-storage 1541. `upload_gap`: RobinBobin/
react-native-google-drive-api-wrapper 102, with 503 as in Byron/google-apis-rs 286.
`short_chunk`: googleapis/gcs-resumable-upload 17. Codes, reasons and messages of XML:
cloud.google.com/storage/docs/xml-api/reference-status; reasons of JSON:
cloud.google.com/storage/docs/json_api/v1/status-codes. For the others a status and a reason are
documented there, but no body was found: their words are ours.
"""

from __future__ import annotations

from typing import Any

from windlass.twin.refusals import Refusal


class StorageRefusal(Refusal):
    """A refusal with what the two languages add: a location in JSON, a code in XML."""

    def __init__(
        self, code: int, message: str, *, reason: str = "", location: str = "", xml: str = ""
    ) -> None:
        super().__init__(code, message, reason=reason)
        self.location = location
        self.xml = xml or XML_CODES.get(code, "InvalidArgument")

    def body(self, *, with_status: bool = False) -> dict[str, Any]:
        """As JSON, in which Cloud Storage has no status."""
        body = super().body(with_status=False)
        if self.location:
            kind = "header" if self.location in ("If-Match", "Range") else "parameter"
            body["error"]["errors"][0].update(locationType=kind, location=self.location)
        return body


XML_CODES = {
    400: "InvalidArgument",
    403: "AccessDenied",
    404: "NoSuchKey",
    405: "MethodNotAllowed",
    409: "Conflict",
    412: "PreconditionFailed",
    416: "InvalidRange",
    499: "ClientClosedRequest",
    501: "NotImplemented",
    503: "ServiceUnavailable",
}

XML_MESSAGES = {
    "NoSuchKey": "The specified key does not exist.",
    "NoSuchBucket": "The specified bucket does not exist.",
    "NoSuchUpload": "The requested upload was not found.",
    "PreconditionFailed": "At least one of the pre-conditions you specified did not hold.",
    "InvalidRange": "The requested range cannot be satisfied.",
    "InvalidBucketName": "The specified bucket is not valid.",
    "BucketNotEmpty": "The bucket you tried to delete is not empty.",
    "BucketAlreadyOwnedByYou": (
        "Your previous request to create the named bucket succeeded and you already own it."
    ),
    "InvalidPart": (
        "One or more of the specified parts could not be found. The part may not have been "
        "uploaded, or the specified entity tag may not match the part's entity tag."
    ),
    "InvalidPartOrder": "The list of parts was not in ascending order.",
    "EntityTooSmall": "Your proposed upload is smaller than the minimum allowed object size.",
    "BadDigest": "The Content-MD5 or checksum value that you specified did not match.",
    "MalformedXML": "The XML you provided was not well-formed or did not validate.",
}


def no_such_bucket() -> StorageRefusal:
    """The bucket is not there."""
    return StorageRefusal(
        404, "The specified bucket does not exist.", reason="notFound", xml="NoSuchBucket"
    )


def no_such_object(bucket: str, name: str, generation: int | None = None) -> StorageRefusal:
    """The object, or that generation of it, is not there."""
    which = f"{bucket}/{name}" if generation is None else f"{bucket}/{name}#{generation}"
    return StorageRefusal(404, f"No such object: {which}", reason="notFound")


def no_such_upload() -> StorageRefusal:
    """The session is unknown or was forgotten."""
    return StorageRefusal(404, "Upload session not found.", reason="notFound", xml="NoSuchUpload")


def condition_failed() -> StorageRefusal:
    """A precondition does not hold."""
    return StorageRefusal(
        412,
        "At least one of the pre-conditions you specified did not hold.",
        reason="conditionNotMet",
        location="If-Match",
    )


def not_modified() -> StorageRefusal:
    """What the client has is what there is."""
    return StorageRefusal(304, "Not Modified", reason="notModified")


def bucket_exists(*, is_own: bool) -> StorageRefusal:
    """The name is taken."""
    if is_own:
        message = XML_MESSAGES["BucketAlreadyOwnedByYou"]
        return StorageRefusal(409, message, reason="conflict", xml="BucketAlreadyOwnedByYou")
    message = (
        "The requested bucket name is not available. The bucket namespace is shared by all users "
        "of the system. Please select a different name and try again."
    )
    return StorageRefusal(409, message, reason="conflict", xml="BucketNameUnavailable")


def bucket_not_empty() -> StorageRefusal:
    """Objects first, noncurrent ones too."""
    return StorageRefusal(
        409,
        "The bucket you tried to delete is not empty.",
        reason="conflict",
        xml="BucketNotEmpty",
    )


def bad_bucket_name(name: str) -> StorageRefusal:
    """Not a name that a bucket can have."""
    return StorageRefusal(
        400, f"Invalid bucket name: '{name}'", reason="invalid", xml="InvalidBucketName"
    )


def bad_object_name(name: str) -> StorageRefusal:
    """Not a name that an object can have."""
    shown = name.encode("unicode_escape").decode()[:100]
    return StorageRefusal(400, f"Disallowed unicode characters present in object name '{shown}'")


def long_object_name() -> StorageRefusal:
    """More than 1,024 bytes."""
    return StorageRefusal(400, "The maximum object length is 1024 characters, but got a longer one")


def invalid(message: str, *, location: str = "", xml: str = "") -> StorageRefusal:
    """A value that makes no sense."""
    return StorageRefusal(400, message, reason="invalid", location=location, xml=xml)


def required(parameter: str) -> StorageRefusal:
    """A value that is missing."""
    return StorageRefusal(
        400, f"Required parameter: {parameter}", reason="required", location=parameter
    )


def hash_mismatch(kind: str, *, given: str, found: str) -> StorageRefusal:
    """The bytes that arrived are not those that were sent."""
    named = "MD5 hash" if kind == "md5" else "CRC32C"
    return invalid(
        f'Provided {named} "{given}" doesn\'t match calculated {named} "{found}".',
        xml="BadDigest",
    )


def bad_range() -> StorageRefusal:
    """Nothing of the object lies in the range."""
    return StorageRefusal(
        416,
        "Request range not satisfiable",
        reason="requestedRangeNotSatisfiable",
        location="Range",
    )


def held(bucket: str, name: str, kind: str) -> StorageRefusal:
    """A hold or a retention policy forbids it."""
    until = "its retention expiration time has passed" if "retention" in kind else "hold is removed"
    return StorageRefusal(
        403,
        f"Object '{bucket}/{name}' is under active {kind} and cannot be deleted, overwritten or "
        f"archived until {until}.",
        reason="retentionPolicyNotMet" if "retention" in kind else "objectUnderActiveHold",
    )


def not_modelled(method: str) -> StorageRefusal:
    """Google has it, the twin does not."""
    return StorageRefusal(501, f"The twin does not model {method}.", reason="notImplemented")


def busy() -> StorageRefusal:
    """Another request writes to the same session."""
    return StorageRefusal(503, "We encountered an internal error. Please try again.")


def upload_gap(*, offset: int, received: int) -> StorageRefusal:
    """Bytes between what has arrived and what comes are missing."""
    return StorageRefusal(
        503,
        "Invalid request.  According to the Content-Range header, the upload offset is "
        f"{offset} byte(s), which exceeds already uploaded size of {received} byte(s).",
    )


def short_chunk(size: int) -> StorageRefusal:
    """A chunk that is not the last must be a quantum at least."""
    return invalid(
        "Invalid request.  The number of bytes uploaded is required to be equal or greater than "
        "262144, except for the final request (it's recommended to be the exact multiple of "
        f"262144).  The received request contained {size} bytes, which does not meet this "
        "requirement."
    )
