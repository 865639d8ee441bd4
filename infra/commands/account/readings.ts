import type { RequestLimits } from './needs.ts';

/** `denied` is the IAM action that the caller lacks, `failed` the message of another error. */
export type Reading<T> = { readonly value: T } | { readonly denied: string } | { readonly failed: string };

export interface MailAccount {
  readonly isInSandbox: boolean;
  readonly isSendingEnabled: boolean;
  /** Why SES adds addresses to the suppression list of the account: `BOUNCE`, `COMPLAINT`. */
  readonly suppressedReasons: readonly string[];
}

export interface ModelAccess {
  /** Whether the region has the model or the inference profile. */
  readonly exists: boolean;
  readonly isAuthorized: boolean;
  /** The state of the agreement with the provider, such as `AVAILABLE` or `PENDING`. */
  readonly agreement: string;
}

export interface Readings {
  readonly concurrency: Reading<number>;
  readonly requests: Reading<RequestLimits>;
  readonly tableProperties: Reading<readonly string[]>;
  readonly mail?: Reading<MailAccount>;
  readonly isMailIdentityVerified?: Reading<boolean>;
  /** By id of the model or inference profile. */
  readonly models: ReadonlyMap<string, Reading<ModelAccess>>;
}
