// Where a mirror is, as the spec, the operator's flags and the mirror's clients name it. Refuses: how it is reached, and
// credentials.

export interface MirrorLocation {
  /** `oci://HOST/REPOSITORY` or `s3://BUCKET/PREFIX`. */
  readonly address: string;
  /** Of an S3 service other than AWS. */
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly pathStyle: boolean;
}
