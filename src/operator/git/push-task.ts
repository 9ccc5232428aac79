// The contract of a push to a git repository: what the caller hands to the process, and what comes back. A task that fails rejects. Only data that
// crosses to a process. Refuses a link: an edit writes a version, a digest and a reference. Invariant: a result holds no
// credential, no query and no user information of a URL, and every message ends with what to do.

import type { GivenKeys, KeyName } from '#operator/targets/target-plan.ts';

/** A repository, a branch of it, and how to reach and sign in to it. */
export interface GitRemote {
  /** `https:`; `http:` only where `isHttpAllowed`. No user information, query or fragment. */
  readonly url: string;
  /** Such as `main`, without `refs/heads/`. Must exist. */
  readonly branch: string;
  /** Pushed instead of `branch`, and based on it; made by the first push. */
  readonly pullRequestBranch?: string;
  readonly access: GitAccess;
  /**
   * Entries as of `--allowed-api-hosts` (`readOriginEntry`): `host`, `host:port` or `http://host:port`. Others are refused
   * with `HostNotAllowed` before any request. Absent: every host.
   */
  readonly allowedHosts?: readonly string[];
  /** Whether the host may lead to loopback, link-local, private or cluster addresses: the guard of links. */
  readonly allowPrivateAddresses: boolean;
  /** For tests on loopback. Default: false. */
  readonly isHttpAllowed?: boolean;
  /** PEM of CA certificates to trust in addition to the system's and those of `access.caPem`. */
  readonly extraCaPem?: string;
  readonly userAgent: string;
  readonly limits: GitLimits;
}

export interface GitAccess {
  /**
   * Of the basic authentication; `git` when absent. GitHub, GitLab, Gitea, Forgejo and Azure take a token with any name.
   * Deploy tokens of GitLab have a name of their own, and access tokens of Bitbucket need `x-token-auth`.
   */
  readonly username?: string;
  readonly password?: string;
  /** Sent as the password of the basic authentication. Used where both are given. */
  readonly token?: string;
  /** CA certificates of this host. */
  readonly caPem?: string;
  /** An OpenSSH private key of type ed25519 without a passphrase: commits are signed with it. */
  readonly signingKeyPem?: string;
}

export interface GitLimits {
  /**
   * Bytes received from the host in one fetch: the pack of one commit, without its history, is most of them. More are
   * refused with `RepositoryTooLarge`, and so is a file over 16 MiB. A task may fetch again: only what is new, or
   * without what it holds.
   */
  readonly maxBytes: number;
  /** From the start of the task to the result; then `Timeout`. */
  readonly deadlineMs: number;
}

/** By measurement (docs/sizing.md of the chart) such a push takes two thirds of what the process of git may have. */
export const defaultGitLimits: GitLimits = { maxBytes: 16 * 1024 * 1024, deadlineMs: 60_000 };

/** A task as it crosses to the process. */
export type SentGitTask =
  | { readonly type: 'push'; readonly task: GitPushTask }
  | { readonly type: 'heads'; readonly task: GitHeadsTask };

export interface GitPushTask extends GitRemote {
  readonly author: { readonly name: string; readonly email: string };
  /** 1 to 500. Several may be of one file; two of one key of one file are refused with `ConflictingEdits`. */
  readonly edits: readonly GitEdit[];
  /**
   * Whether the commit asks pipelines not to run, by `[skip ci]` and `skip-checks: true`. Default: true on `branch`, and
   * false on a pull-request branch, because a required check that never runs keeps a pull request from being merged.
   */
  readonly skipsCi?: boolean;
}

export interface GitEdit {
  /** The caller's own name for it, unique in the task; it comes back in the result. */
  readonly id: string;
  /** POSIX path of a file inside the repository, such as `clusters/prod/docs.yaml`. */
  readonly path: string;
  /** The mapping that holds the keys, such as `['spec', 'values', 'staticExport']`; 1 to 8 names. */
  readonly keyPath: readonly string[];
  /** At least one. Absent: this key is not changed. */
  readonly wanted: GitKeys;
  /** Subject of the commit if no other edit is in it. One line. */
  readonly subject: string;
  /** One line in the body of the commit, such as `docs/site: 2026.11.1`. */
  readonly body: string;
  /** Only says which keys would change. */
  readonly isDryRun?: boolean;
  /** What an earlier push of this edit put there. Absent before the first. */
  readonly lastWritten?: GitKeys;
}

/** The reference is of the copy in a mirror: no secret. */
export type GitKeys = GivenKeys;

export interface GitPushResult {
  /** The head of the branch that is pushed to, after the task. */
  readonly head: string;
  /** The commit of this task, if one was pushed: it equals `head`. */
  readonly commit?: string;
  /** To compare with a later {@link GitHeads}: equal heads, wanted keys and edits need no push. */
  readonly heads: GitHeads;
  /** One for each edit, in the task's order. */
  readonly edits: readonly GitEditResult[];
}

export type GitEditResult =
  /**
   * `written`: in the commit of this task. `unchanged`: the branch holds the keys already. `awaiting-merge`: the
   * pull-request branch holds them, `branch` does not. After a push to a pull-request branch the outcome is `written`
   * once, and `awaiting-merge` from then on.
   */
  | { readonly id: string; readonly outcome: 'written' | 'unchanged' | 'awaiting-merge' }
  /** Of a dry run that would change these keys; one that would change nothing is `unchanged`. */
  | { readonly id: string; readonly outcome: 'planned'; readonly keys: readonly KeyName[] }
  /** `lastWritten` equals `wanted`, but the file holds something else: another client reverted it. Not written again. */
  | { readonly id: string; readonly outcome: 'reverted'; readonly message: string }
  | {
      readonly id: string;
      readonly outcome: 'refused';
      readonly code: GitRefusalCode;
      readonly message: string;
    };

export type GitRefusalCode =
  | 'InvalidEdit' // no keys, an empty key path, or names that no file can hold
  | 'ConflictingEdits' // another edit of the task writes another value to the same key
  | 'PathOutsideRepository' // absolute, `..`, empty segments, or a `.git` folder
  | 'FileNotFound'
  | 'NotAFile' // a folder is at the path
  | 'SymbolicLink' // at the path or at one of its folders
  | 'Submodule' // at the path or at one of its folders
  | 'LfsPointer' // the content is in Git LFS
  | 'NotUtf8'
  | 'TooLarge'
  | 'TooSlow'
  | 'InvalidYaml'
  | 'MultipleDocuments'
  | 'NotAMap'
  | 'SharedNode'
  | 'Uneditable'
  | 'ForeignCommits'; // the pull-request branch holds commits of others, and the file cannot be edited there

export type GitFailureCode =
  | 'InvalidUrl'
  | 'InvalidTask' // a branch name that git does not accept, no edits, or more than 500
  | 'EmptyRepository'
  | 'BranchNotFound'
  | 'Unauthorized' // 401, 403 or 404: hosts answer any of them for a private repository
  | 'Refused' // another status, of which the host says why
  | 'ProtectedBranch' // the host or its hook declined the push; the message quotes its reason
  | 'CertificateNotTrusted'
  | 'HostNotAllowed'
  | 'AddressNotAllowed'
  | 'RedirectRefused'
  | 'Timeout'
  | 'RepositoryTooLarge' // more than `limits.maxBytes`, the process's memory, or a limit of the host (413)
  | 'UnsupportedRepository' // SHA-256 objects
  | 'NotAGitServer' // the answer is not git's protocol
  | 'Unreachable' // no connection, a connection that broke, 408, 409, 429, or 5xx
  | 'Contended' // other clients pushed before each attempt
  | 'InvalidCaCertificate'
  | 'BadSigningKey'
  | 'Unexpected';

/** A cheap look at the heads, without a fetch: the second task of the process. */
export type GitHeadsTask = GitRemote;

export interface GitHeads {
  readonly branch: string;
  /** Absent where there is none yet, or none is named. */
  readonly pullRequestBranch?: string;
}
