// What is published: a version of the content, and the times of its link. Owns types only, which `bundle.json`, the
// output Secret and decisions share. Refuses: holding the link.

/** The times of one issued link on this machine's clock, in epoch ms, whole seconds. */
export interface LinkTimes {
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** `bundle.json` without its link: what the output Secret publishes, or must publish from now on. */
export interface Publication {
  readonly version: string;
  /** SHA-256 hex, or `undefined` where inspection is off. */
  readonly digest: string | undefined;
  readonly jobId: string;
  readonly pages: number | undefined;
  readonly sizeBytes: number | undefined;
  /** Of the copy in a mirror: `oci://…@sha256:…` or `s3://…`. Not secret. Only with a digest. */
  readonly ref: string | undefined;
  /** Path that its links begin with, `''` for the root. Absent where the job named none. */
  readonly basePath?: string | undefined;
  /** Steps after which the archive has this digest. Absent: the archive is as the export API made it. */
  readonly repair?: string | undefined;
  /** Revision of each of these steps, such as `canonical:1 search:2`. Absent: 1 of each. */
  readonly repairRevision?: string | undefined;
  /** `undefined`: the version is published without a link, by its reference. */
  readonly link: LinkTimes | undefined;
}
