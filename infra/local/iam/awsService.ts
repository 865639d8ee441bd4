/** A permission that a call needs: an action on a resource. */
export interface Access {
  readonly action: string;
  readonly resource: string;
}

export interface AwsCall {
  readonly operation: string;
  readonly input: Record<string, unknown>;
  /** The JSON from which `input` was parsed. */
  readonly body: string;
  /** Whether the caller no longer waits for the answer. */
  readonly hasCallerLeft: () => boolean;
}

/** The answer to a call. */
export interface AwsAnswer {
  readonly status: number;
  /** JSON. */
  readonly body: string;
}

/** A service behind the local AWS endpoint. */
export interface Service {
  /** Returns the permissions that a call needs. */
  accesses(operation: string, input: Record<string, unknown>): Access[];
  answer(call: AwsCall): AwsAnswer | Promise<AwsAnswer>;
}
